package content_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

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

func TestScanRefusesAboveTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and a single goroutine has no races")
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
		if c.name == "many strings and patterns" && os.Getenv("SIGNALBOX_TEST_FULL") != "1" {
			continue // the other refusals take less time
		}
		t.Run(c.name, func(t *testing.T) {
			s := scanner(t, patterns(content.Redact, c.list...)...)
			_, err := s.Scan(t.Context(), "", &systemone.Request{State: c.state})
			if !c.refuse {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, content.ErrScanLimit)
			e, ok := errors.AsType[*router.Error](err)
			require.True(t, ok)
			assert.Equal(t, router.PermissionDenied, e.Class)
			assert.Equal(t, "Content filter limit exceeded", e.Message)
		})
	}
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

// TestEveryFilterEndsWithTheContext holds that every filter stops inside a long text when
// the context ends.
func TestEveryFilterEndsWithTheContext(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and a single goroutine has no races")
	}
	for name, piece := range hostile() {
		state := quoted(t, strings.Repeat(piece, 64<<10/len(piece)))
		for _, f := range everything(content.Redact) {
			s := scanner(t, f)
			asked := 1 << 30
			_, err := s.Scan(stops{t.Context(), &asked, context.Canceled}, "", &systemone.Request{State: state})
			require.NoError(t, err)
			for _, after := range []int{0, (1<<30 - asked) / 2, (1<<30 - asked) - 1} {
				left := after
				_, err := s.Scan(stops{t.Context(), &left, context.Canceled}, "", &systemone.Request{State: state})
				require.ErrorIs(t, err, context.Canceled, "%s %s%s after %d", name, f.Slug, f.Pattern, after)
			}
		}
	}
}

// TestBuiltinsAreBounded holds that no text of 4 MiB makes the builtin filters work for
// seconds. Numbers in a question of many words, in three forms, once took seven seconds.
// Large ordinary texts pass.
func TestBuiltinsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and a single goroutine has no races")
	}
	s := scanner(t, everything(content.Redact)[:8]...)
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
			continue // the short run tests only the worst text
		}
		t.Run(name, func(t *testing.T) {
			_, err := s.Scan(t.Context(), "", question(piece))
			require.ErrorIs(t, err, content.ErrScanLimit)
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
			_, err := s.Scan(t.Context(), "", &systemone.Request{State: quoted(t, strings.Repeat(piece, size/len(piece)))})
			require.NoError(t, err)
		})
	}
}
