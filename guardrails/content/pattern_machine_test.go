package content

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compiled returns a pattern and its equivalent in package regexp.
func compiled(tb testing.TB, pattern string) (*pattern, *regexp.Regexp) {
	tb.Helper()
	p, err := compilePattern(pattern)
	require.NoError(tb, err)
	t := translator{in: pattern}
	_, err = t.alternatives(0)
	require.NoError(tb, err)
	return p, regexp.MustCompile(t.out.String())
}

// matches returns the matches of a machine and their cost.
func matches(tb testing.TB, p *pattern, text string) ([]span, int64) {
	tb.Helper()
	m := newMachine(newMeter(tb.Context(), nil, ""), []*program{p.program})
	found, err := p.find(nil, []byte(text), m, 0)
	require.NoError(tb, err)
	return found, maxSteps - m.meter.left
}

// wanted returns the matches of package regexp that are not empty.
func wanted(re *regexp.Regexp, text string) []span {
	var list []span
	for _, m := range re.FindAllStringIndex(text, -1) {
		if m[0] < m[1] {
			list = append(list, span{m[0], m[1]})
		}
	}
	return list
}

// FuzzMachine holds that a machine finds the same matches as package regexp.
func FuzzMachine(f *testing.F) {
	for _, pattern := range []string{
		`y.*x|y`, `a|ab|abc`, `(?:a|ab)(?:c|bcd)?`, `a*?b|`, `|a`, `\bx\B.`, `^a|b$`, `(?m:^a$)`, `(?i:straße|[K-k]\W)`, `[^]{2,3}?`,
		`\p{L}+|\P{L}`, `[^\n]+?b`, `(?:a?b?c?){3}`, `[]|a`, `(?s:.)`, `x*`, `\Bé`, `[\p{Cs}a]\ufffd`,
	} {
		for _, text := range []string{"", "abcabcd", "yyyyxyy", "a\nab\n", "xx x éa\xff\u212a", "STRASSE straSSe STRAßE k!", "bbb"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if _, err := compilePattern(pattern); err != nil || len(text) > 200 {
			return
		}
		p, re := compiled(t, pattern)
		found, _ := matches(t, p, text)
		require.Equal(t, wanted(re, text), found, "%q in %q", pattern, text)
	})
}

// TestMachineServesOneProgramAfterTheOther holds that no state of one search affects the
// next one.
func TestMachineServesOneProgramAfterTheOther(t *testing.T) {
	var programs []*program
	var list []*pattern
	var same []*regexp.Regexp
	for _, pattern := range []string{`[äö]+x`, `[^ä]`, `\p{L}{2}`, `ä|[ö-ü]`, `.*ü`, `(?:a|ö|[x-z])*ä`} {
		p, re := compiled(t, pattern)
		programs, list, same = append(programs, p.program), append(list, p), append(same, re)
	}
	m := newMachine(newMeter(t.Context(), nil, ""), programs)
	for _, text := range []string{"äöx", "ööä", "x", "", "aüöxä", "\xffä"} {
		for i, p := range list {
			found, err := p.find(nil, []byte(text), m, 0)
			require.NoError(t, err)
			assert.Equal(t, wanted(same[i], text), found, "%s in %s", p, text)
		}
	}
}

// TestStepsCountEveryByteOfEverySearch holds the definition of a step.
func TestStepsCountEveryByteOfEverySearch(t *testing.T) {
	p, _ := compiled(t, `[wy].*x|[wy]`)
	size := int64(p.size.instructions)
	_, steps := matches(t, p, strings.Repeat("z", 1000))
	assert.Equal(t, 1000*size+runSteps, steps, "one search reads all")
	const n = 400
	_, steps = matches(t, p, strings.Repeat("y", n))
	assert.Equal(t, n*(n+1)/2*size+n*runSteps, steps, "each match is followed by a search that reads all of the rest")
	quoted, _ := compiled(t, `needle[0-9]`)
	_, steps = matches(t, quoted, strings.Repeat("z", 1000))
	assert.EqualValues(t, 1000/4+runSteps, steps, "what every match holds is looked for first")
}

// TestStepsBoundTheWork counts what a machine really does: it visits an instruction at
// most once for each byte, and once more at the start of a search.
func TestStepsBoundTheWork(t *testing.T) {
	for _, pattern := range []string{`(?:[ab]?){50}c|x`, `a.*b|a.*c|b.*d`, `(?:a|b|ab)*c`, `\b(?:a?\B){9}`, `(?i:[^c]*K)`} {
		p, _ := compiled(t, pattern)
		m := newMachine(newMeter(t.Context(), nil, ""), []*program{p.program})
		for n := range 200 {
			threads := 0
			_, _ = m.step(p.program, 0, 0, 0, 0)
			for range n {
				threads, _ = m.step(p.program, threads, 'a', 0, n)
				require.LessOrEqual(t, threads, p.size.instructions)
			}
			before := m.now
			_, _, err := m.find(p.program, []byte(strings.Repeat("ab", n)), 0)
			require.NoError(t, err)
			require.LessOrEqual(t, m.now-before, uint32(2*n+2))
		}
	}
}

// countdown is a context that ends after a number of calls of Err.
type countdown struct {
	context.Context //nolint:containedctx // countdown is a context itself

	left *int
}

func (e countdown) Err() error {
	if *e.left--; *e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestSearchEndsWithItsContext holds that a search checks its context every few steps,
// however large the program and however long the text.
func TestSearchEndsWithItsContext(t *testing.T) {
	var alternatives []string
	for i := range 800 {
		alternatives = append(alternatives, fmt.Sprintf("a.*b%04dc", i))
	}
	for _, pattern := range []string{strings.Join(alternatives, "|"), `[wy].*x|[wy]`, `[ab]`, `[^b]*[cd]`, `zz|y`} {
		p, _ := compiled(t, pattern)
		left := 20
		meter := newMeter(countdown{t.Context(), &left}, nil, "")
		m := newMachine(meter, []*program{p.program})
		_, err := p.find(nil, []byte(strings.Repeat("ay", 1<<20)), m, matchSteps)
		require.ErrorIs(t, err, context.DeadlineExceeded, pattern[:1])
		most := int64(2 * 21 * (checkEvery + max(p.size.instructions, runSteps+matchSteps)))
		assert.LessOrEqual(t, maxSteps-meter.left, most, pattern[:1])
	}
}
