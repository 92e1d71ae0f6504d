package uselite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNormaliseStops holds that normalise reads at most MaxRunes characters, and returns
// at most as many, however long the text is.
func TestNormaliseStops(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		runes int
		whole bool
	}{
		"empty":                {"", 0, true},
		"at the limit":         {strings.Repeat("a", MaxRunes), MaxRunes, true},
		"above":                {strings.Repeat("a", MaxRunes+1), MaxRunes, false},
		"of two bytes":         {strings.Repeat("é", MaxRunes), MaxRunes, true},
		"it grows, below":      {strings.Repeat("\ufdfa", MaxRunes/18), MaxRunes / 18 * 18, true},
		"it grows above":       {strings.Repeat("\ufdfa", MaxRunes/18+1), MaxRunes, false},
		"huge":                 {strings.Repeat("\ufdfa", 1<<19), MaxRunes, false},
		"huge and not UTF-8":   {strings.Repeat("\xff", 1<<20), MaxRunes, false},
		"it shrinks, too late": {strings.Repeat("e\u0301", MaxRunes), MaxRunes / 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			in, whole := normalise(c.text)
			assert.Equal(t, c.whole, whole)
			assert.Len(t, in, c.runes)
			assert.LessOrEqual(t, cap(in), MaxRunes+1)
		})
	}
}

// TestLongTextCountsAsTooLong holds that Count reports MaxTokens+1 for a text above
// MaxRunes, even if the text has few pieces.
func TestLongTextCountsAsTooLong(t *testing.T) {
	m := load(t)
	for _, text := range []string{strings.Repeat("☃", MaxRunes+1), strings.Repeat("\ufdfa", 1<<19), strings.Repeat("a ", 1<<19)} {
		assert.Equal(t, MaxTokens+1, m.Count(text))
		_, err := m.Encode(t.Context(), text)
		require.NoError(t, err)
	}
	assert.LessOrEqual(t, m.Count(strings.Repeat("☃", MaxRunes)), 2, "what is read is counted")
}
