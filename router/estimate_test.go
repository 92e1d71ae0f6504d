package router_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// uncounted returns a step that answers with a usage that lacks counts.
func uncounted(in, out int64, missing router.Uncounted) step {
	return reply(func(r *router.Reply) {
		r.Usage = systemone.Usage{InputTokens: in, OutputTokens: out}
		r.Uncounted = missing
	})
}

// priced sets the prices per million tokens, and the fee.
func priced(prompt, completion, fee router.USD) func(*router.Endpoint) {
	return func(e *router.Endpoint) {
		e.Pricing = router.Pricing{Prompt: prompt.Price(), Completion: completion.Price(), Request: fee.Price()}
	}
}

// TestMissingUsage: a missing count that has a price is the plan's estimate, in the
// charge, in the reply, in the recorded event and in the counter.
func TestMissingUsage(t *testing.T) {
	t.Parallel()
	shape := router.ShapeOf(decision(byPrice))
	require.Positive(t, shape.PromptTokens)
	require.Positive(t, shape.CompletionTokens)
	const usd = router.Dollar
	for name, c := range map[string]struct {
		prompt, completion, fee router.USD
		in, out                 int64
		missing                 router.Uncounted
		wantIn, wantOut         int64
		estimated               bool
	}{
		"both given":              {usd, usd, 0, 7, 9, router.Uncounted{}, 7, 9, false},
		"given as 0":              {usd, usd, 0, 0, 0, router.Uncounted{}, 0, 0, false},
		"both missing":            {usd, usd, 0, 0, 0, router.Uncounted{Input: true, Output: true}, shape.PromptTokens, shape.CompletionTokens, true},
		"both missing, one price": {usd, 0, 0, 0, 0, router.Uncounted{Input: true, Output: true}, shape.PromptTokens, shape.CompletionTokens, true},
		"both missing, a fee":     {0, 0, usd, 0, 0, router.Uncounted{Input: true, Output: true}, shape.PromptTokens, shape.CompletionTokens, true},
		"input missing":           {usd, usd, 0, 0, 9, router.Uncounted{Input: true}, shape.PromptTokens, 9, true},
		"output missing":          {usd, usd, 0, 7, 0, router.Uncounted{Output: true}, 7, shape.CompletionTokens, true},
		"input missing, free":     {0, usd, 0, 0, 9, router.Uncounted{Input: true}, 0, 9, false},
		"output missing, free":    {usd, 0, 0, 7, 0, router.Uncounted{Output: true}, 7, 0, false},
	} {
		for _, own := range []bool{false, true} {
			l := newTill(t, "bee", 0)
			l.router.SetCatalog(l.catalog("bee", priced(c.prompt, c.completion, c.fee)))
			l.upstreams["bee"].will(uncounted(c.in, c.out, c.missing))
			call := l.call()
			if own {
				call = l.own()
			}
			res, err := l.router.Decide(t.Context(), call)
			require.NoError(t, err, name)
			a := call.Report.Legs[0].Attempts[0]
			assert.Equal(t, c.wantIn, res.Response.Usage.InputTokens, name)
			assert.Equal(t, c.wantOut, res.Response.Usage.OutputTokens, name)
			assert.Equal(t, c.estimated, a.UsageEstimated, name)
			price := router.Pricing{Prompt: c.prompt.Price(), Completion: c.completion.Price(), Request: c.fee.Price()}.Cost(c.wantIn, c.wantOut)
			want := router.Amount{Credit: price, Total: price}
			if own {
				want.Credit = 0
			}
			assert.Equal(t, want, router.Amount{Credit: a.Cost, Total: a.Cost + a.OwnCost}, name)
			assert.Equal(t, want, l.balance(router.Lifetime).Spent, name)
			event := call.Events(res)[0]
			assert.Equal(t, [2]int64{c.wantIn, c.wantOut}, [2]int64{event.Prompt, event.Completion}, name)
			count, amount := l.router.Estimates()
			if c.estimated {
				assert.Equal(t, int64(1), count, name)
				assert.Equal(t, price, amount, name)
			} else {
				assert.Zero(t, count, name)
			}
		}
	}
}

// noting is a ledger that remembers holds and settlements.
type noting struct {
	router.Ledger

	held, cost router.Amount
}

func (n *noting) Reserve(ctx context.Context, h router.Hold) error {
	n.held = h.Amount
	return n.Ledger.Reserve(ctx, h)
}

func (n *noting) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	n.cost = cost
	return n.Ledger.Settle(ctx, id, cost)
}

// drawCounting draws an endpoint's Counting.
func drawCounting(t *rapid.T) router.Counting {
	return router.Counting{
		InputTokens:      rapid.SampledFrom([]int{0, 0, 1, 20, 100_000}).Draw(t, "input"),
		TokensPerByte:    rapid.SampledFrom([]float64{0, 0, 1e-9, 0.01, 0.25, 1, 3}).Draw(t, "per byte"),
		CompletionTokens: rapid.SampledFrom([]int{0, 0, 1, 5, 100_000}).Draw(t, "completion"),
		Verbatim:         rapid.Bool().Draw(t, "verbatim"),
	}
}

// TestEstimateIsNeverAboveItsHold, for any request, any prices and any Counting.
func TestEstimateIsNeverAboveItsHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		books := &noting{Ledger: memory.New().Ledger}
		prices := rapid.Custom(func(t *rapid.T) router.USD {
			return router.USD(rapid.SampledFrom([]int64{0, 1, 42_000_000, 1_000_000_000, 1 << 40}).Draw(t, "price"))
		})
		counting := drawCounting(draw)
		g := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = books },
			priced(prices.Draw(draw, "prompt"), prices.Draw(draw, "completion"), prices.Draw(draw, "fee")),
			func(e *router.Endpoint) {
				e.Counting = counting
				e.ContextLength = rapid.SampledFrom([]int{0, 100_000}).Draw(draw, "context")
			})
		g.upstreams["ant"].will(uncounted(0, 0, router.Uncounted{Input: true, Output: true}))
		q := decision("")
		q.State = systemone.Text(drawText(draw))
		_, err := g.router.Decide(t.Context(), &router.Call{Request: q, Principal: who()})
		require.NoError(draw, err)
		require.LessOrEqual(draw, books.cost.Credit, books.held.Credit)
		count, _ := g.router.Overruns()
		require.Zero(draw, count)
	})
}

// TestUsageIsChecked: an endpoint may require usage, and a count of input beyond
// its context is a bad reply.
func TestUsageIsChecked(t *testing.T) {
	t.Parallel()
	required := func(e *router.Endpoint) { e.Counting.UsageRequired = true }
	context := func(n int) func(*router.Endpoint) { return func(e *router.Endpoint) { e.ContextLength = n } }
	for name, c := range map[string]struct {
		edit    []func(*router.Endpoint)
		does    step
		refused bool
	}{
		"required, given":          {[]func(*router.Endpoint){required}, uncounted(1, 1, router.Uncounted{}), false},
		"required, missing":        {[]func(*router.Endpoint){required}, uncounted(0, 0, router.Uncounted{Input: true, Output: true}), true},
		"required, one missing":    {[]func(*router.Endpoint){required}, uncounted(1, 0, router.Uncounted{Output: true}), true},
		"required, a free one":     {[]func(*router.Endpoint){required, priced(router.Dollar, 0, 0)}, uncounted(1, 0, router.Uncounted{Output: true}), false},
		"as long as the context":   {[]func(*router.Endpoint){context(900)}, uncounted(900, 1, router.Uncounted{}), false},
		"longer than the context":  {[]func(*router.Endpoint){context(900)}, uncounted(901, 1, router.Uncounted{}), true},
		"longer, and free":         {[]func(*router.Endpoint){context(900), priced(0, 0, 0)}, uncounted(901, 1, router.Uncounted{}), true},
		"more input than context":  {[]func(*router.Endpoint){context(900), func(e *router.Endpoint) { e.Counting.InputTokens = 1000 }}, uncounted(1000, 1, router.Uncounted{}), false},
		"more than it may count":   {[]func(*router.Endpoint){context(900), func(e *router.Endpoint) { e.Counting.InputTokens = 1000 }}, uncounted(1001, 1, router.Uncounted{}), true},
		"no context stated, a lot": {nil, uncounted(100_000_000, 1, router.Uncounted{}), false},
	} {
		l := newTill(t, "ant", 0)
		l.router.SetCatalog(l.catalog("ant", append([]func(*router.Endpoint){priced(router.Dollar, router.Dollar, 0)}, c.edit...)...))
		l.upstreams["ant"].will(c.does)
		call := l.call()
		said := l.ask(call)
		if !c.refused {
			assert.Empty(t, said, name)
			continue
		}
		assert.Equal(t, "provider_unavailable", said, name)
		assert.Equal(t, 502, call.Report.Legs[0].Attempts[0].Status, name)
		assert.Zero(t, l.balance(router.Lifetime).Spent, name)
	}
}

// TestLogWarnsOfEstimatesHourly: the log warns of an endpoint once an hour.
func TestLogWarnsOfEstimatesHourly(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newClock()
	g := newRig(t, "ant bee", func(cfg *router.Config) {
		cfg.Now = c.now
		cfg.Interceptors = []router.Interceptor{router.Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn})))}
	})
	silent := uncounted(0, 0, router.Uncounted{Input: true, Output: true})
	g.upstreams["ant"].will(silent)
	g.upstreams["bee"].will(silent)
	warned := func(first string) (ant, bee int) {
		out.Reset()
		for range 3 {
			_, err := g.router.Decide(t.Context(), &router.Call{Request: decision(`{"order":["` + first + `"]}`)})
			require.NoError(t, err)
		}
		return strings.Count(out.String(), "endpoint=ant"), strings.Count(out.String(), "endpoint=bee")
	}
	ant, bee := warned("ant")
	assert.Equal(t, [2]int{1, 0}, [2]int{ant, bee})
	ant, bee = warned("bee")
	assert.Equal(t, [2]int{0, 1}, [2]int{ant, bee})
	c.step(time.Hour - time.Second)
	ant, _ = warned("ant")
	assert.Zero(t, ant)
	c.step(time.Second)
	ant, _ = warned("ant")
	assert.Equal(t, 1, ant)
}
