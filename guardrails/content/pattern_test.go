package content_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
)

func TestCompilePatternMeansWhatECMAScriptMeans(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          string // with what matches replaced by #
	}{
		{`a.c`, "abc a\nc a\u2028c", "# a\nc a\u2028c"},
		{`\u0041\x42\u{43}`, "ABC", "#"},
		{`\uD83D\uDE00`, "x😀", "x#"},
		{`a[^]c`, "a\nc", "#"},
		{`a[]|b`, "ab", "a#"},
		{`a\sb`, "a\u00a0b a\u3000b a\ufeffb a b", "# # # #"},
		{`a\Sb`, "a\u00a0b axb", "a\u00a0b #"},
		{`[^\S]x`, "\u2003x", "#"},
		{`\cJx`, "\nx", "#"},
		{`\d+\w\W`, "12a- ٣", "# ٣"},
		{`(?<year>\d{4})-(?<month>\d\d)`, "2026-11", "#"},
		{`(?:ab){2,}?c`, "ababc", "#"},
		{`[[:alpha:]]`, "a] :]", "# #"},
		{`[\b]`, "a\bc", "a#c"},
		{`[a\-z]+`, "a-z b", "# b"},
		{`[+--]+`, "+,-", "#"},
		{`[a-]x`, "-x", "#"},
		{`[\d-z]+`, "3-z4", "#"},
		{`a{,2}b{x}`, "a{,2}b{x}", "#"},
		{`x]}`, "x]}", "#"},
		{`^ab$`, "ab", "#"},
		{`^b`, "a\nb", "a\nb"},
		{`\bé`, "aé é", "a# é"},
		{`(?i:abc)d`, "ABCd ABCD", "# ABCD"},
		{`\p{Lu}\p{Script=Greek}`, "Aα aα", "# aα"},
		{`\/\.\$\-`, "/.$-", "#"},
		{`a|b|`, "ab", "##"},
		{`\0x`, "\x00x", "#"},
		{`ab*?c`, "abbc", "#"},
		{`[\w.]+@x`, "a.b@x", "#"},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			s := scanner(t, content.Filter{Pattern: c.pattern, Action: content.Redact, Label: "#"})
			assert.Equal(t, c.want, redacted(t, s, c.text))
		})
	}
}

func TestCompilePatternRefuses(t *testing.T) {
	for _, c := range []struct{ pattern, why string }{
		{``, "it is empty"},
		{"\xff", "not valid UTF-8"},
		{strings.Repeat("a", 100_001), "longer than 100,000"},
		{`a(?=b)`, "look-around (?= is not supported at character 1"},
		{`a(?!b)`, "look-around"},
		{`(?<=a)b`, "look-around"},
		{`(?<!a)b`, "look-around"},
		{`(a)\1`, "back-references are not supported at character 3"},
		{`(?<x>a)\k<x>`, "back-references"},
		{`(a+)+`, "nested quantifiers at character 0"},
		{`(a*)*`, "nested quantifiers"},
		{`(?:x(?:a{2,})y)*`, "nested quantifiers"},
		{`(a|a)*`, "nested quantifiers"},
		{`(a|b|)*`, "nested quantifiers"},
		{`a**`, "nothing to repeat"},
		{`a+{2}`, "nothing to repeat"},
		{`+a`, "nothing to repeat"},
		{`{2}`, "nothing to repeat"},
		{`^*`, "assertion"},
		{`\b+`, "assertion"},
		{`(a`, "has no end"},
		{`a)`, "unmatched )"},
		{`[a`, "has no end"},
		{`[b-a]`, "out of order"},
		{`a{3,2}`, "out of order"},
		{`a{1001}`, "above 1000"},
		{`a{99999999999999999999}`, "above 1000"},
		{`\`, "at the end"},
		{`\A`, `unknown escape \A`},
		{`\z`, `unknown escape`},
		{`[\B]`, `unknown escape`},
		{`\01`, "octal"},
		{`\c1`, "needs a letter"},
		{`\xg1`, "hexadecimal"},
		{`\u12`, "hexadecimal"},
		{`\ud800`, "surrogate"},
		{`\udc00\ud800`, "surrogate"},
		{`\u{110000}`, "hexadecimal"},
		{`\u{}`, "code point"},
		{`(?<1>a)`, "name"},
		{`(?<a>a)(?<a>b)`, "name"},
		{`(?<a`, "name"},
		{`(?P<a>b)`, "invalid group"},
		{`(?i)a`, "invalid group"},
		{`\p{Klingon}`, "range"},
		{`\pL`, "braces"},
		{`((a{100}){100}){100}`, "invalid"},
		{`(?:[ab]?[cd]?){999}`, "too expensive"},
		{strings.Repeat("(", 300) + strings.Repeat(")", 300), "too deeply"},
	} {
		t.Run(c.pattern[:min(len(c.pattern), 30)], func(t *testing.T) {
			err := new(content.PatternBudget).Take(c.pattern)
			require.ErrorIs(t, err, content.ErrPattern)
			assert.ErrorContains(t, err, c.why)
		})
	}
}

func TestCompilePatternTakesLongLists(t *testing.T) {
	words := make([]string, 0, 10_000)
	for i := range 10_000 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 3)+string(rune('a'+i/26%26)))
	}
	scanner(t, content.Filter{Pattern: strings.Join(words, "|")})
}
