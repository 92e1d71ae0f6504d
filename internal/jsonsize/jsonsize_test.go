package jsonsize_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/jsonsize"
)

func size(t *testing.T, v any) int {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return b.Len() - 1 // without the line feed
}

func TestEveryCharacterCountsAsItIsWritten(t *testing.T) {
	for r := range rune(0x3000) {
		assert.Equal(t, size(t, string(r)), jsonsize.Text(string(r)), "%U", r)
	}
	assert.Equal(t, size(t, []string{}), jsonsize.List([]string{}))
}

func FuzzSize(f *testing.F) {
	for _, s := range []string{"", "a", "\x00\x1f\x7f", "\xff\xfe", "\ufffd", "é😀", "<&>", "\u2028\u2029"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		assert.Equal(t, size(t, a), jsonsize.Text(a))
		assert.Equal(t, size(t, []string{a, b}), jsonsize.List([]string{a, b}))
	})
}
