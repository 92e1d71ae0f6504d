package content

import (
	"bytes"
	"context"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// disguises are the pieces of the texts in this file.
func disguises() []string {
	return []string{
		"a", "B", "4", " ", "@", "é", "e\u0301", "4\u0333\u0301", "\u00ad", "\u200f", "\ufeff", "\u2060", "\U000e0041", "\U000e0100", "４", "ａ", "①", "⒋",
		"🄸", "🅰", "𝟜", "٣", "५", "４\u20e3", "ﬁ", "½", "ﷺ", "か\u3099", "한", "\u1112\u1161\u11ab", "中", "й", "и\u0306", "і", "Ａ\u030a", "%40", "%E2%80%8B",
		"&#64;", "&amp;#64;", "&commat;", `\x40`, `\u{40}`, "&", "%", `\`, "\x00", "\x7f", "\u0301", "\u0600", "🇩", "—", "\u2028", "\xff", "\u212b",
	}
}

func newText(t interface{ Context() context.Context }) *text {
	return &text{meter: newMeter(t.Context(), nil, "")}
}

// TestTrailsLeadBack holds that each character of each form is mapped to its origin: the
// origin, folded alone, contains that character.
func TestTrailsLeadBack(t *testing.T) {
	used := newText(t)
	rapid.Check(t, func(t *rapid.T) {
		source := []byte(joined(rapid.SliceOfN(rapid.SampledFrom(disguises()), 0, 24).Draw(t, "text")))
		fresh := newText(t)
		fresh.set(source, false)
		used.set(source, false)
		require.Len(t, used.forms, len(fresh.forms))
		for n := range fresh.forms {
			f := &fresh.forms[n]
			require.Equal(t, string(f.b), string(used.forms[n].b), "a used text does what a fresh one does")
			last := 0
			for i := 0; i < len(f.b); {
				_, size := utf8.DecodeRune(f.b[i:])
				at := span{i, i + size}
				place := fresh.inDecoded(f, at)
				require.Equal(t, place, used.inDecoded(&used.forms[n], at))
				require.True(t, 0 <= place.start && place.start < place.end && place.end <= len(source), "%v", place)
				require.GreaterOrEqual(t, place.start, last, "the order is kept")
				last = place.start
				alone := newText(t)
				alone.set(source[place.start:place.end], false)
				found := false
				for _, a := range alone.forms {
					found = found || bytes.Contains(a.b, f.b[i:i+size])
				}
				require.True(t, found, "%q of %q stems from %q", f.b[i:i+size], f.b, source[place.start:place.end])
				i += size
			}
		}
	})
}

func joined(parts []string) string {
	var b bytes.Buffer
	for _, p := range parts {
		b.WriteString(p)
	}
	return b.String()
}

func TestNoForm(t *testing.T) {
	x := newText(t)
	x.set([]byte("Plain text, 12:30.\n"), false)
	require.Len(t, x.forms, 1)
	assert.Empty(t, x.forms[0].from)
	assert.Equal(t, span{2, 4}, x.inDecoded(&x.forms[0], span{2, 4}))
}

func TestFoldedForms(t *testing.T) {
	for in, want := range map[string]string{
		"\ufeff\u200f\u00adMy card":         "My card",
		"ＡＢＣ１２３＠．":                          "ABC123@.",
		"Ç a\u0300 Ñandú Ελλάδα йод":        "C a Nandu Ελλαδα иод",
		"4\u03331\u030a1\u20e31":            "4111",
		"①②⑴⒈❶➀➊⓵🄂²₃":                       "12111111123",
		"٤१৪๔໔༤၄៤᠔４𝟒𝟜":                      "414444444444",
		"ⓘⓖⓝ🄾🅁🅴":                            "ignORE",
		"a\u2028b\u3000c\u00a0d\ve":         "a\nb c d e",
		"1–2—3−4‑5ー6":                       "1-2-3-4-5-6",
		"x。y·z․w｡v":                         "x.y.z.w.v",
		"한국어 かが 中文 \u0939\u093f\u0928":      "한국어 かが 中文 \u0939\u093f\u0928",
		"\u0000a\u0008b\u007fc":             "abc",
		"ab\U000e0061c":                     "abc",
		"\ufb01n \u2460\ufe0f\u20e3 \u3164": "fin 1 ",
	} {
		x := newText(t)
		x.set([]byte(in), false)
		assert.Equal(t, want, string(x.forms[0].b), "%q", in)
	}
}

func TestUnhiddenForms(t *testing.T) {
	for in, want := range map[string]string{
		"a%40b&#64;c&#x40;d&commat;e": "a@b@c@d@e",
		`\x40\u0040\u{40}\U00000040`:  "@@@@",
		"%2540 &amp;#64; %EF%BC%A0":   "@ @ @",
		"100% & 5%zz &none; %4":       "",
	} {
		x := newText(t)
		x.set([]byte(in), false)
		if want == "" {
			assert.Len(t, x.forms, 1)
			continue
		}
		assert.Equal(t, want, string(x.forms[1].b), "%q", in)
	}
}

// TestDigitsOfLateScripts holds that folding knows digits that package unicode does not
// know yet.
func TestDigitsOfLateScripts(t *testing.T) {
	for _, zero := range []rune{0x10d40, 0x116d0, 0x116da, 0x11bf0, 0x11de0, 0x1ccf0, 0x1e5f1} {
		for n := range rune(10) {
			if got := foldRune(zero + n); got != '0'+n {
				t.Errorf("%U is %c, not %d", zero+n, got, n)
			}
		}
	}
}

func TestClassesOfCharacters(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		hidden := unicode.In(r, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != 0x85
		if hidden && !isInvisible(r) || !hidden && isInvisible(r) && r != 0xfffc {
			t.Errorf("%U: invisible is %v", r, isInvisible(r))
		}
		if unicode.Is(unicode.Zs, r) && foldRune(r) != ' ' {
			t.Errorf("%U is a space", r)
		}
		if unicode.Is(unicode.Pd, r) && foldRune(r) != '-' && r != 0xfe63 {
			t.Errorf("%U is a dash", r)
		}
		if unicode.Is(unicode.Nd, r) {
			zero := r
			for unicode.Is(unicode.Nd, zero-1) && foldRune(zero) != '0' {
				zero--
			}
			if want := '0' + r - zero; foldRune(r) != want {
				t.Errorf("%U is %c, not %c", r, want, foldRune(r))
			}
		}
		if isPlainLetter(r) && (unicode.Is(unicode.M, r) || foldRune(r) != 0 || isInvisible(r)) {
			t.Errorf("%U is no plain letter", r)
		}
	}
}
