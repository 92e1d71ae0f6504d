package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// seed adds the files of a pattern to a fuzz test.
func seed(f *testing.F, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob("testdata/" + pattern)
		require.NoError(f, err)
		require.NotEmpty(f, files)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(raw)
		}
	}
}

// sound holds every item to what all readers promise: an id and a place in one line, and either a reason
// or a state that is a text, an object or an array in valid JSON of valid UTF-8, with few notes.
func sound(t *testing.T, all []read) {
	t.Helper()
	for _, r := range all {
		assert.NotEmpty(t, r.ID)
		assert.NotEmpty(t, r.Source)
		assert.LessOrEqual(t, len(r.Notes), maxNotes)
		if r.Error != "" {
			assert.NotContains(t, r.Error, "\n")
			continue
		}
		require.True(t, json.Valid(r.State), "%q", r.State)
		assert.True(t, utf8.Valid(r.State))
		assert.Contains(t, `"{[`, string(r.State[:1]))
	}
}

func FuzzMail(f *testing.F) {
	seed(f, "mail/*.eml")
	f.Fuzz(func(t *testing.T, raw []byte) {
		all := readAll(options{format: "mail"}, "f.eml", bytes.NewReader(raw))
		assert.Len(t, all, 1)
		sound(t, all)
	})
}

func FuzzMbox(f *testing.F) {
	seed(f, "box/*.mbox", "mail/nested.eml")
	f.Fuzz(func(t *testing.T, raw []byte) {
		all := readAll(options{format: "mbox"}, "f.mbox", bytes.NewReader(raw))
		assert.LessOrEqual(t, len(all), 1+bytes.Count(raw, []byte("From ")))
		sound(t, all)
	})
}

func FuzzLines(f *testing.F) {
	seed(f, "box/*.jsonl")
	f.Fuzz(func(t *testing.T, raw []byte) {
		all := readAll(options{format: "jsonl"}, "f.jsonl", bytes.NewReader(raw))
		sound(t, all)
		sound(t, readAll(options{format: "jsonl", state: "text", id: "id"}, "f.jsonl", bytes.NewReader(raw)))
		for _, r := range all {
			if r.Error == "" {
				assert.True(t, bytes.Contains(raw, r.State) || bytes.Contains(raw, []byte{0}), "the state is as it was written")
			}
		}
	})
}

func FuzzText(f *testing.F) {
	seed(f, "text/*.txt", "text/*.dat")
	f.Fuzz(func(t *testing.T, raw []byte) {
		all := readAll(options{format: "text"}, "f.txt", bytes.NewReader(raw))
		assert.Len(t, all, 1)
		sound(t, all)
	})
}

func FuzzDetect(f *testing.F) {
	seed(f, "text/*.txt", "box/*", "mail/*.eml")
	f.Fuzz(func(t *testing.T, raw []byte) {
		sound(t, readAll(options{format: "auto"}, "noname", bytes.NewReader(raw)))
	})
}

func FuzzHTML(f *testing.F) {
	f.Add("<p>a<br>b<pre> c\n d</pre><li><script>x</script>&amp;&#x2014;<td>")
	f.Add("<!doctype html><title>t</title><body><ul><li>1<li>2</ul><textarea>x</textarea>")
	f.Add("<noscript><style></style><iframe></b><plaintext>")
	f.Fuzz(func(t *testing.T, source string) {
		text := tidy(htmlText(source))
		assert.True(t, utf8.ValidString(text))
		assert.NotContains(t, text, "\n\n\n")
		assert.Equal(t, strings.TrimSpace(text), text)
		assert.Equal(t, text, tidy(text), "tidying twice changes nothing")
	})
}
