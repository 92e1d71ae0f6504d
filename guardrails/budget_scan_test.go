package guardrails_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// hungry is a pattern of 8 instructions for each of n alternatives, every one
// of which reads to the end of the line.
func hungry(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("[ab].*b%04dc", i)
	}
	return strings.Join(list, "|")
}

func patterns(action guardrails.Action, list ...string) []guardrails.Filter {
	filters := make([]guardrails.Filter, len(list))
	for i, p := range list {
		filters[i] = guardrails.Filter{Pattern: p, Action: action}
	}
	return filters
}

func quoted(tb testing.TB, text string) json.RawMessage {
	tb.Helper()
	state, err := json.Marshal(text)
	require.NoError(tb, err)
	return state
}

func TestScanRefusesAboveTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and one goroutine cannot race")
	}
	large := []string{`(?:[ab]?){1000}c|x`, `(?:[ab]?){999}c|x`, `(?:[ab]?){998}c|x`, `(?:[ab]?){780}c|x`}
	var short []string
	for i := range 100 {
		short = append(short, fmt.Sprintf("Q%02d", i))
	}
	for _, c := range []struct {
		name   string
		state  json.RawMessage
		list   []string
		refuse bool
	}{
		{"the largest guardrail on 64 KiB", quoted(t, strings.Repeat("z", 64<<10)), large, false},
		{"the largest guardrail on 70,000 bytes", quoted(t, strings.Repeat("z", 70_000)), large, true},
		{"a small pattern on 4 MiB", quoted(t, strings.Repeat("z", 4<<20)), []string{`[bc]+\d{100}`}, false},
		{"a larger one", quoted(t, strings.Repeat("z", 4<<20)), []string{`[bc]+\d{120}`}, true},
		{"rescans after a match", quoted(t, strings.Repeat("y", 64<<10)), []string{`y.*x|y`}, true},
		{"rescans of a short text", quoted(t, strings.Repeat("y", 1<<10)), []string{`y.*x|y`}, false},
		{"many strings", json.RawMessage(`["` + strings.Repeat(`a","`, 1<<20) + `a"]`), short[:10], false},
		{"many strings and patterns", json.RawMessage(`["` + strings.Repeat(`a","`, 1<<20) + `a"]`), short, true},
		{"a replacement for every byte", quoted(t, strings.Repeat("a", 4<<20)), []string{`a`}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scanner(t, patterns(guardrails.Redact, c.list...)...)
			_, err := s.Scan(t.Context(), &systemone.Request{State: c.state})
			if !c.refuse {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, guardrails.ErrScanLimit)
			e, ok := errors.AsType[*router.Error](err)
			require.True(t, ok)
			assert.Equal(t, router.PermissionDenied, e.Class)
			assert.Equal(t, "Content filter limit exceeded", e.Message)
		})
	}
}

// TestBudgetIsSharedByTheGuardrailsOfARequest holds that it is the request's,
// not one for each guardrail, each pattern or each part of the request.
func TestBudgetIsSharedByTheGuardrailsOfARequest(t *testing.T) {
	r := newRig(t)
	for i, scope := range []router.Source{router.SourceWorkspace, router.SourceMember, router.SourceKey} {
		r.put(t, scope, guardrails.Patch{Filters: router.To(patterns(guardrails.Flag, hungry(500+i)))})
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
	require.ErrorIs(t, err, guardrails.ErrScanLimit)
	assert.Nil(t, *sent, "nothing was let through")
}

// stops is a context that ends when it was asked so many times.
type stops struct {
	context.Context //nolint:containedctx // it is one

	after *int
	with  error
}

func (s stops) Err() error {
	if *s.after--; *s.after < 0 {
		return s.with
	}
	return nil
}

// TestEveryFilterEndsWithTheContext holds that no filter reads a long text to
// its end for a caller that is gone.
func TestEveryFilterEndsWithTheContext(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and one goroutine cannot race")
	}
	for name, piece := range hostile() {
		state := quoted(t, strings.Repeat(piece, 64<<10/len(piece)))
		for _, f := range everything(guardrails.Redact) {
			s := scanner(t, f)
			asked := 1 << 30
			_, err := s.Scan(stops{t.Context(), &asked, context.Canceled}, &systemone.Request{State: state})
			require.NoError(t, err)
			for _, after := range []int{0, (1<<30 - asked) / 2, (1<<30 - asked) - 1} {
				left := after
				_, err := s.Scan(stops{t.Context(), &left, context.Canceled}, &systemone.Request{State: state})
				require.ErrorIs(t, err, context.Canceled, "%s %s%s after %d", name, f.Slug, f.Pattern, after)
			}
		}
	}
}

// TestADeadlineInAScanIsATimeout holds that the end of a context is not taken
// for a fault of the service.
func TestADeadlineInAScanIsATimeout(t *testing.T) {
	r := newRig(t)
	r.put(t, router.SourceKey, guardrails.Patch{Filters: router.To(patterns(guardrails.Flag, hungry(500)))})
	for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
		after := 5
		ends := func(next router.Decider) router.Decider {
			return func(ctx context.Context, c *router.Call) (*router.Result, error) {
				return next(stops{ctx, &after, end}, c) //nolint:contextcheck // it is ctx, but ends
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

// TestStoredPatternsAboveTheBoundRefuse holds that what was stored before there
// were bounds lets nothing through unseen.
func TestStoredPatternsAboveTheBoundRefuse(t *testing.T) {
	r := newRig(t)
	g := r.put(t, router.SourceKey, guardrails.Patch{})
	engine, _ := newRouter(t, catalogs()["K1"], r.Intercept)
	decide := func(list ...string) error {
		g.Filters = patterns(guardrails.Block, list...)
		g.Revision++
		require.NoError(t, r.set.Guardrails.Replace(t.Context(), g, router.Change{}))
		r.now = r.now.Add(time.Minute)
		_, err := engine.Decide(t.Context(), &router.Call{Request: ask(`"a"`, modelM), Principal: key("a")})
		return err
	}
	require.NoError(t, decide(hungry(2000)), "the budget of the request is enough")
	require.ErrorIs(t, decide(hungry(6000), hungry(6001), hungry(6002), hungry(6003), hungry(6004)), guardrails.ErrScanLimit)
	require.ErrorIs(t, decide(`(?i:`+strings.Repeat(`[B-z\W]`, 100)+`)`), guardrails.ErrScanLimit)
	require.NoError(t, decide(`b`))
}

// TestWritesRefuseWhatIsTooExpensive holds that what a guardrail may have is
// counted over all its patterns, and that the refusal names the one that is too
// much and says by how much.
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
			err := guardrails.Patch{Filters: router.To(patterns(guardrails.Flag, c.list...))}.Check()
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

// TestBuiltinsAreBounded holds that no text of 4 MiB makes the builtin filters
// work for seconds: numbers in a question of many words, in three forms, took
// seven. What is large and ordinary passes.
func TestBuiltinsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and one goroutine cannot race")
	}
	s := scanner(t, everything(guardrails.Redact)[:8]...)
	const size = 4 << 20
	question := func(piece string) *systemone.Request {
		text := "&amp;amp;#64; \U000e0041 é " + strings.Repeat(piece, size/len(piece))
		return &systemone.Request{State: quoted(t, "x"), Questions: []systemone.Question{{
			Name: strings.Repeat("a ", 100), Kind: systemone.Choice, Instructions: quoted(t, strings.Repeat("a ", 300)),
			Options: []systemone.Option{{Name: "x", Guidance: quoted(t, text)}, {Name: "y"}},
		}}}
	}
	for name, piece := range map[string]string{
		"addresses": "1.1.1.1 4111111111111111 ",
		"phrases":   "ignore system prompt you are now developer mode without safety <|",
		"everything": "1.1.1.1 4111111111111111 2125550123 4111-1111-1111-1111, 123.45.6789 a@b.co John Smith 12 Main Street, " +
			"ignore previous you are now developer mode without safety <| i g n o r e ",
	} {
		if name != "everything" && os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
			continue // it is the worst
		}
		t.Run(name, func(t *testing.T) {
			_, err := s.Scan(t.Context(), question(piece))
			require.ErrorIs(t, err, guardrails.ErrScanLimit)
		})
	}
	for name, piece := range map[string]string{
		"prose":   "The customer says that the parcel of 21 November arrived late & that 2 of the 12 cups (20 %) were broken. ",
		"chinese": "客户说包裹迟到了，我们的办公室退款十五欧元。",
		"korean":  "고객은 소포가 늦게 도착했고 컵 두 개가 깨졌다고 말합니다. ",
		"hindi":   "ग्राहक कहता है कि पार्सल देर से आया। ",
		"marks":   "Le client a de\u0301ja\u0300 rec\u0327u le colis, tre\u0300s tard, a\u0300 Orle\u0301ans. ",
		"table":   "2026-11-22T14:00:01Z,host-17,12.5,3.75,99,ok\n",
		"log":     "Nov 22 14:00:01 host-17 sshd[1234]: Accepted publickey for bob from 10.1.2.3 port 51234 ssh2: ED25519 SHA256:abc/def+x\n",
	} {
		if name != "prose" && name != "korean" && os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, err := s.Scan(t.Context(), &systemone.Request{State: quoted(t, strings.Repeat(piece, size/len(piece)))})
			require.NoError(t, err)
		})
	}
}
