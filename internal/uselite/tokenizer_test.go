package uselite

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

func TestTokenizerPrefersTheBestSum(t *testing.T) {
	pieces := []string{"?", "<s>", "</s>", "1", "2", "3", "▁", "a", "b", "ab", "▁a", "1"}
	scores := []float32{0, 0, 0, 0, 0, 0, -1, -2, -2, -3, -2, -1}
	for text, want := range map[string][]int32{
		"ab":   {10, 8}, // of equal sums, here -1-3 and -2-2, the later start wins
		"a":    {10},    // -2 beats -1-2
		"xy":   {6, 0},  // a run of unknown characters is one piece
		"axxa": {10, 0, 7},
		"１":    {6, 11}, // normalised; the reserved piece 3 never matches
		"  a":  {6, 6, 10},
		"a\tb": {10, 0, 8},
		"\xff": {6, 0},
		"":     nil,
	} {
		tok := newTokenizer(pieces, scores)
		assert.Equal(t, want, tok.encode(text), "%q", text)
	}
}

func FuzzTokenizer(f *testing.F) {
	m := load(f)
	for _, r := range references(f) {
		f.Add(r.Text)
	}
	f.Add("\u0958\ufdfa")
	f.Fuzz(func(t *testing.T, text string) {
		ids := m.tokens.encode(text)
		runes := utf8.RuneCountInString(norm.NFKC.String(text))
		require.LessOrEqual(t, len(ids), runes+1)
		require.Equal(t, text == "", len(ids) == 0)
		var known strings.Builder
		for i, id := range ids {
			require.Less(t, int(id), len(m.tokens.lengths))
			require.True(t, id == unknown || id >= reserved)
			require.False(t, id == unknown && i > 0 && ids[i-1] == unknown, "two unknowns in a row")
			for range m.tokens.lengths[id] {
				known.WriteByte('.')
			}
		}
		// Known pieces cover the text except for unknown characters.
		require.LessOrEqual(t, known.Len(), runes+1)
	})
}
