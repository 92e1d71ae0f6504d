package main

import (
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// read is an item as a golden file shows it.
type read struct {
	ID     string          `json:"id"`
	Source string          `json:"source"`
	State  json.RawMessage `json:"state,omitempty"`
	Notes  []string        `json:"notes,omitempty"`
	Error  string          `json:"error,omitempty"`
}

// readAll finds and understands the items of a stream.
func readAll(o options, name string, from io.Reader) []read {
	var all []read
	o.file(name, from, func(i item) bool {
		r := read{ID: i.id, Source: i.source}
		err := i.err
		if err == nil {
			var doc document
			doc, err = i.parse(i.raw)
			r.State, r.Notes = doc.state, doc.notes
			if doc.name != "" {
				r.ID = doc.name
			}
		}
		if err != nil {
			r.Error = oneLine(err)
		}
		all = append(all, r)
		return true
	})
	return all
}

// golden compares items, as indented JSON, with a golden file.
func golden(t *testing.T, file string, all []read) {
	t.Helper()
	var got strings.Builder
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	for _, r := range all {
		require.NoError(t, e.Encode(r))
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got.String())
}

func TestReadersGiveWhatTheGoldenFilesSay(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"mail/*.eml", "text/*.txt", "text/*.dat", "box/*.mbox", "box/*.jsonl"} {
		files, err := filepath.Glob("testdata/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				f, err := os.Open(file)
				require.NoError(t, err)
				defer func() { assert.NoError(t, f.Close()) }()
				golden(t, file+".golden", readAll(options{format: "auto"}, filepath.Base(file), f))
			})
		}
	}
}

func TestMembersOfLinesAreStateAndID(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/box/lines.jsonl")
	require.NoError(t, err)
	defer func() { assert.NoError(t, f.Close()) }()
	golden(t, "testdata/box/members.golden", readAll(options{format: "auto", state: "text", id: "id"}, "lines.jsonl", f))
}

// source finds the items of the files that o names.
func sources(t *testing.T, o options, stdin string) []item {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all []item
	for i := range o.find(ctx, strings.NewReader(stdin)) {
		all = append(all, i)
	}
	return all
}
