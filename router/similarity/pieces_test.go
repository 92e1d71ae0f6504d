package similarity

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pieces splits texts without a limit on their number.
func pieces(t require.TestingT, texts []string, window int, count func(string) int) []piece {
	c := cutter{window: window, count: count, full: func(int, int) error { return nil }}
	got, err := c.split(context.Background(), texts)
	require.NoError(t, err)
	return got
}

func TestSplit(t *testing.T) {
	count := func(text string) int { return len(strings.Fields(text)) }
	for name, c := range map[string]struct {
		texts []string
		want  []string
	}{
		"nothing":                  {nil, nil},
		"what fits is one":         {[]string{"a b.", "c d"}, []string{"a b. c d"}},
		"sentences are packed":     {[]string{"a b. c d. e f."}, []string{"a b. c d.", "e f."}},
		"and texts with them":      {[]string{"a b.", "c d", "e f"}, []string{"a b. c d", "e f"}},
		"a long sentence is cut":   {[]string{"a b c d e f g h"}, []string{"a b c d", "e f g h"}},
		"its rest joins the next":  {[]string{"a b c d e f. g"}, []string{"a b c d", "e f. g"}},
		"a mark within a number":   {[]string{"a 1.5 c d. e f"}, []string{"a 1.5 c d.", "e f"}},
		"marks that end sentences": {[]string{"a! b? c; d. e f"}, []string{"a! b? c; d.", "e f"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range pieces(t, c.texts, 4, count) {
				got = append(got, p.text)
				assert.LessOrEqual(t, p.tokens, 4)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestSplitKeepsEverything holds that pieces keep every letter of the texts in order. No
// piece has more tokens than the window, unless it is a single rune.
func TestSplitKeepsEverything(t *testing.T) {
	count := func(text string) int { return len([]rune(text))/3 + 1 }
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.IntRange(1, 12).Draw(t, "window")
		texts := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			return fold(rapid.StringOfN(rapid.RuneFrom([]rune("ab .!?é日𝄞\ufffd")), 0, 60, -1).Draw(t, "text"))
		})).Draw(t, "texts")
		var whole strings.Builder
		for _, p := range pieces(t, texts, window, count) {
			require.NotEmpty(t, p.text)
			if len([]rune(p.text)) > 1 && !strings.Contains(p.text, " ") {
				require.LessOrEqual(t, count(p.text), window)
			}
			whole.WriteString(p.text)
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		require.Equal(t, squeeze(strings.Join(texts, "")), squeeze(whole.String()))
	})
}
