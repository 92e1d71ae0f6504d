package guardrails_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
)

// hungry returns a pattern of n alternatives with 8 instructions each, all of which read
// to the end of the line.
func hungry(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("[ab].*b%04dc", i)
	}
	return strings.Join(list, "|")
}

func patterns(action content.Action, list ...string) []content.Filter {
	filters := make([]content.Filter, len(list))
	for i, p := range list {
		filters[i] = content.Filter{Pattern: p, Action: action}
	}
	return filters
}

func quoted(tb testing.TB, text string) json.RawMessage {
	tb.Helper()
	state, err := json.Marshal(text)
	require.NoError(tb, err)
	return state
}

// TestBudgetIsSharedByTheGuardrailsOfARequest holds that one budget serves the whole
// request: guardrails, patterns and parts of the request share it.
func TestBudgetIsSharedByTheGuardrailsOfARequest(t *testing.T) {
	r := newRig(t)
	for i, scope := range []router.Source{router.SourceWorkspace, router.SourceMember, router.SourceKey} {
		r.put(t, scope, guardrails.Patch{Filters: router.To(patterns(content.Flag, hungry(500+i)))})
	}
	engine, sent := newRouter(t, catalogs()["K1"], r.Intercept)
	decide := func(n int) error {
		_, err := engine.Decide(t.Context(), &router.Call{
			Request: ask(string(quoted(t, strings.Repeat("z", n))), modelM), Principal: key("a"),
		})
		return err
	}
	require.NoError(t, decide(32<<10))
	*sent = nil
	err := decide(64 << 10)
	require.ErrorIs(t, err, content.ErrScanLimit)
	assert.Nil(t, *sent, "nothing was let through")
}

// stops is a context that ends after a number of calls of Err.
type stops struct {
	context.Context //nolint:containedctx // stops is a context itself

	after *int
	with  error
}

func (s stops) Err() error {
	if *s.after--; *s.after < 0 {
		return s.with
	}
	return nil
}

// TestADeadlineInAScanIsATimeout holds that the end of a context during a scan is not
// reported as a fault of the service.
func TestADeadlineInAScanIsATimeout(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, guardrails.Patch{Filters: router.To(patterns(content.Flag, hungry(500)))})
	for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
		after := 5
		ends := func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				return next(stops{ctx, &after, end}, c) //nolint:contextcheck // stops wraps ctx
			}
		}
		engine, sent := newRouter(t, catalogs()["K1"], ends, r.Intercept)
		_, err := engine.Decide(t.Context(), &router.Call{
			Request: ask(string(quoted(t, strings.Repeat("a", 32<<10))), modelM), Principal: key("a"),
		})
		require.ErrorIs(t, err, end)
		e, ok := errors.AsType[*router.Error](err)
		require.True(t, ok)
		assert.Equal(t, router.Timeout, e.Class)
		assert.Nil(t, *sent)
	}
}

// TestStoredPatternsAboveTheBoundRefuse holds that a guardrail stored before the limits
// existed lets no request through unscanned.
func TestStoredPatternsAboveTheBoundRefuse(t *testing.T) {
	r := newRig(t)
	g := r.put(t, router.SourceKey, guardrails.Patch{})
	engine, _ := newRouter(t, catalogs()["K1"], r.Intercept)
	decide := func(list ...string) error {
		g.Filters = patterns(content.Block, list...)
		g.Revision++
		require.NoError(t, r.set.Guardrails.Replace(t.Context(), g, router.Change{}))
		r.now = r.now.Add(time.Minute)
		_, err := engine.Decide(t.Context(), &router.Call{Request: ask(`"a"`, modelM), Principal: key("a")})
		return err
	}
	require.NoError(t, decide(hungry(2000)), "the budget of the request is enough")
	require.ErrorIs(t, decide(hungry(6000), hungry(6001), hungry(6002), hungry(6003), hungry(6004)), content.ErrScanLimit)
	require.ErrorIs(t, decide(`(?i:`+strings.Repeat(`[B-z\W]`, 100)+`)`), content.ErrScanLimit)
	require.NoError(t, decide(`b`))
}

// TestWritesRefuseWhatIsTooExpensive holds that the limit counts all patterns of a
// guardrail. The refusal names the pattern that exceeds it, and both figures.
func TestWritesRefuseWhatIsTooExpensive(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    []string
		at, why string
	}{
		{"just enough", []string{`(?:[ab]?){1000}c`, `(?:[ab]?){999}c`, `(?:[ab]?){998}c`, `(?:[ab]?){790}c`, `[ab]{12}`}, "", ""},
		{"one too many", []string{`(?:[ab]?){1000}c`, `(?:[ab]?){999}c`, `(?:[ab]?){998}c`, `(?:[ab]?){790}c`, `x`, `[ab]{10}`}, "content_filters.5.pattern", "7601 instructions in all patterns up to this one, at most 7600 are possible"},
		{"one large", []string{`a`, hungry(6000)}, "content_filters.1.pattern", "instructions"},
		{"before it is expanded", []string{strings.Repeat(`a{1000}`, 14_000)}, "content_filters.0.pattern", "too large"},
		{"classes", []string{strings.Repeat(`\p{L}`, 490), strings.Repeat(`\p{L}`, 490)}, "content_filters.1.pattern", "to expand in classes"},
		{"one class", []string{`[` + strings.Repeat(`\p{L}`, 15_000) + `]`}, "content_filters.0.pattern", "to expand in classes"},
		{"ignoring case", []string{`(?i:` + strings.Repeat(`[B-\u{1e942}]`, 7000) + `)`}, "content_filters.0.pattern", "to expand in classes"},
		{"ignoring case in all", []string{`(?i:` + strings.Repeat(`[x\W]`, 10) + `)`, `(?i:` + strings.Repeat(`[x\W]`, 10) + `)`}, "content_filters.1.pattern", "to expand in classes"},
		{"ignoring case where there is none", []string{`(?i:` + strings.Repeat(`\W[\s\d_]`, 1000) + `(?-i:[x\W]{100}))`}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := guardrails.Patch{Filters: router.To(patterns(content.Flag, c.list...))}.Check()
			if c.at == "" {
				require.NoError(t, err)
				return
			}
			refused, ok := errors.AsType[*guardrails.PatternError](err)
			require.True(t, ok, "%v", err)
			require.Len(t, refused.Issues, 1)
			assert.Equal(t, c.at, refused.Issues[0].Path)
			assert.Contains(t, refused.Issues[0].Message, c.why)
		})
	}
}
