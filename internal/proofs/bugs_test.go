package proofs

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// Each of these was a bug of a widely used gateway that lost money.
func TestBugsOfOthers(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		for name, test := range map[string]func(*world){
			"01 check, then increment":                               (*world).bug01,
			"02 the rich need not pay in advance":                    (*world).bug02,
			"03 first requests of an unknown user race past a limit": (*world).bug03,
			"04 two layers disagree on what is full":                 (*world).bug04,
			"05 a reservation is not released on some path":          (*world).bug05,
			"06 reserved and actual cost are both counted":           (*world).bug06,
			"07 a counter is seeded twice":                           (*world).bug07,
			"08 a reservation is cut down to what is left":           (*world).bug08,
			"09 a price is missing from the estimate":                (*world).bug09,
			"10 all but the first rows of a batch are dropped":       (*world).bug10,
			"11 the queue is emptied before the commit":              (*world).bug11,
			"12 updates in any order deadlock and are dropped":       (*world).bug12,
			"13 a counter of 32 bits overflows":                      (*world).bug13,
			"14 every process has limits of its own":                 (*world).bug14,
			"15 counters of periods diverge":                         (*world).bug15,
			"16 a budget is used up far too early":                   (*world).bug16,
		} {
			t.Run(name, func(t *testing.T) { test(&world{engine: e, t: t, account: "account " + name[:2]}) })
		}
	})
}

func (w *world) bug01() {
	g := w.gateway(w.one, fee(cent), fee(cent), keyLimit(11*cent))
	require.True(w.t, g.ask("x"), "the line is there")
	assert.EqualValues(w.t, 10, crowd(40, g))
	w.spent(11 * cent)
}

func (w *world) bug02() {
	g := w.gateway(w.one, fee(cent), fee(cent), keyLimit(1_000_000*router.Dollar))
	g.ant.Add(does(func() {
		assert.Equal(w.t, router.Amount{Credit: cent, Total: cent}, w.stands().Held)
	}, systemone.Usage{}))
	require.True(w.t, g.ask("x"))
	require.Len(w.t, g.ant.Attempts(), 1)
	w.spent(cent)
}

func (w *world) bug03() {
	byDefault := budget(guardrailCheck, router.OwnerMember, router.Daily, 10*cent)
	g, other := w.gateway(w.one, fee(cent), fee(cent), byDefault), w.gateway(w.other, fee(cent), fee(cent), byDefault)
	assert.EqualValues(w.t, 10, crowd(40, g, other))
	w.spent(10 * cent)
}

func (w *world) bug04() {
	g := w.gateway(w.one, fee(cent), fee(cent),
		budget(creditCheck, router.OwnerAccount, router.Lifetime, cent),
		keyLimit(cent),
		budget(workspaceCheck, router.OwnerWorkspace, router.Monthly, cent),
		budget(guardrailCheck, router.OwnerKey, router.Weekly, cent),
	)
	assert.True(w.t, g.ask("x"), "what fills all of them")
	assert.False(w.t, g.ask("x"))
	w.spent(cent)
}

func (w *world) bug05() {
	fails := map[string]routertest.Step{
		"a reply without answers": {Do: func(context.Context, router.Attempt) (router.Reply, error) { return router.Reply{}, nil }},
		"not sent":                {Err: router.ErrNotSent},
		"panic":                   {Do: func(context.Context, router.Attempt) (router.Reply, error) { panic("a provider's bug") }},
	}
	for _, status := range []int{400, 401, 408, 413, 429, 500, 529} {
		fails[strconv.Itoa(status)] = routertest.Step{Err: routertest.Fail(status, 0)}
	}
	for path, step := range fails {
		g := w.gateway(w.one, fee(cent), fee(2*cent), keyLimit(2*cent))
		g.ant.Default, g.bee.Default = step, step
		func() {
			defer func() { assert.Equal(w.t, path == "panic", recover() != nil, path) }()
			_, err := g.call(w.t.Context(), "x")
			assert.Error(w.t, err, path)
		}()
		assert.NotEmpty(w.t, g.ant.Attempts(), path)
		assert.Zero(w.t, w.stands(), path)
	}
	// A caller that hangs up pays for the running attempt, and nothing stays held.
	ctx, hangUp := context.WithCancel(w.t.Context())
	g := w.gateway(w.one, fee(cent), fee(2*cent), keyLimit(3*cent))
	g.ant.Default = routertest.Step{Do: func(ctx context.Context, _ router.Attempt) (router.Reply, error) {
		hangUp()
		return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
	}}
	_, err := g.call(ctx, "x")
	require.ErrorIs(w.t, err, context.Canceled)
	w.spent(cent)
	assert.True(w.t, w.gateway(w.one, fee(2*cent), fee(2*cent), keyLimit(3*cent)).ask("x"), "no limit is used up by what was given back")
	w.spent(3 * cent)
}

func (w *world) bug06() {
	g := w.gateway(w.one, fee(cent), fee(3*cent), keyLimit(3*cent))
	g.ant.Add(failing())
	require.True(w.t, g.ask("x"))
	w.spent(3 * cent) // not the sum of the first attempt's hold and the second one's cost

	h := w.hold(1, 7*cent)
	require.NoError(w.t, w.one.Ledger.Reserve(w.t.Context(), h))
	n, err := w.other.Ledger.Expire(w.t.Context(), h.Deadline.Add(time.Second), 1000, router.ExpirePost)
	require.NoError(w.t, err)
	require.Positive(w.t, n)
	assert.Equal(w.t, 10*cent, w.stands().Spent.Credit, "the hold was not given back")
	require.NoError(w.t, w.one.Ledger.Settle(w.t.Context(), h.ID, router.Amount{Credit: cent, Total: cent}))
	assert.Equal(w.t, router.Balance{Spent: router.Amount{Credit: 4 * cent, Total: 4 * cent}}, w.stands())
}

// hold returns a hold on the account's one line.
func (w *world) hold(n int, amount router.USD) router.Hold {
	h := router.Hold{
		Lines:  []router.Line{w.line(router.OwnerAccount, router.Lifetime)},
		Amount: router.Amount{Credit: amount, Total: amount}, Deadline: noon(),
	}
	copy(h.ID[:], w.account[len(w.account)-2:])
	binary.BigEndian.PutUint32(h.ID[12:], uint32(n))
	return h
}

func (w *world) event(id string) router.Event {
	return router.Event{
		ID: w.account + id, Admitted: noon(), Principal: w.who(), Model: "m", Permaslug: "m-1", Endpoint: uuid.UUID{1}, Provider: "Ant",
	}
}

func (w *world) settleWith(h router.Hold, events ...router.Event) error {
	recorder, ok := w.one.Ledger.(router.Recorder)
	require.True(w.t, ok)
	return recorder.SettleWith(w.t.Context(), h.ID, h.Amount, events)
}

func (w *world) bug07() {
	first := w.gateway(w.one, fee(cent), fee(cent))
	require.True(w.t, first.ask("x"))
	// Two programs on the same storage begin at once.
	assert.EqualValues(w.t, 20, crowd(20, first, w.gateway(w.other, fee(cent), fee(cent))))
	w.spent(21 * cent)
	assert.EqualValues(w.t, 21, w.used().Requests)
}

func (w *world) bug08() {
	cap5 := []router.Cap{{Line: w.line(router.OwnerAccount, router.Lifetime), Max: 5 * cent}}
	h := w.hold(1, 6*cent)
	h.Caps = cap5
	var refused *router.LimitError
	require.ErrorAs(w.t, w.one.Ledger.Reserve(w.t.Context(), h), &refused)
	assert.Equal(w.t, 5*cent, refused.Left)
	w.spent(0)
	g := w.gateway(w.one, fee(6*cent), fee(6*cent), keyLimit(5*cent))
	assert.False(w.t, g.ask("x"))
	assert.Empty(w.t, g.ant.Attempts(), "it was not sent with less")
	assert.Empty(w.t, g.bee.Attempts())
}

func (w *world) bug09() {
	all := router.Pricing{Prompt: router.Dollars("3"), Completion: router.Dollars("9"), Request: cent.Price()}
	dear := router.Pricing{Prompt: router.Dollars("30"), Completion: router.Dollars("90"), Request: (2 * cent).Price()}
	state := strings.Repeat("long context ", 10_000)
	// A token for every byte of the state, which is the most that a tokenizer makes.
	usage := systemone.Usage{InputTokens: int64(len(state)), OutputTokens: 500}
	g := w.gateway(w.one, all, dear, keyLimit(10*router.Dollar))
	held := router.USD(0)
	look := func() { held = w.stands().Held.Credit }
	g.ant.Add(does(look, usage))
	require.True(w.t, g.ask(state))
	cost := all.Cost(usage.InputTokens, usage.OutputTokens)
	w.spent(cost)
	assert.GreaterOrEqual(w.t, held, cost)
	g.ant.Add(failing())
	g.bee.Add(does(look, usage))
	require.True(w.t, g.ask(state))
	assert.GreaterOrEqual(w.t, held, dear.Cost(usage.InputTokens, usage.OutputTokens), "the hold grows before a dearer endpoint")
	count, _ := g.router.Overruns()
	assert.Zero(w.t, count)
}

func (w *world) bug10() {
	const rows = 1000
	h, events := w.hold(1, 2*rows), make([]router.Event, 0, rows)
	require.NoError(w.t, w.one.Ledger.Reserve(w.t.Context(), h))
	for i := range rows {
		e := w.event(fmt.Sprint("/", i))
		e.Principal.KeyHash, e.Model = fmt.Sprint("key ", i%300), fmt.Sprint("model ", i%7)
		e.Requests, e.Prompt, e.Cost = 1, 3, router.Amount{Credit: 2, Total: 2}
		events = append(events, e)
	}
	require.NoError(w.t, w.settleWith(h, events...))
	w.spent(2 * rows)
	assert.EqualValues(w.t, rows, w.used().Requests)
	assert.EqualValues(w.t, 3*rows, w.used().Prompt)
}

func (w *world) bug11() {
	h, e := w.hold(1, cent), w.event("/0")
	e.Cost = h.Amount
	require.NoError(w.t, w.one.Ledger.Reserve(w.t.Context(), h))
	recorder, ok := w.other.Ledger.(router.Recorder)
	require.True(w.t, ok)
	over, end := context.WithCancel(w.t.Context())
	end()
	require.Error(w.t, recorder.SettleWith(over, h.ID, h.Amount, []router.Event{e}), "who hears no error may forget")
	assert.Equal(w.t, h.Amount, w.stands().Held, "and until then nothing is lost")
	require.NoError(w.t, w.settleWith(h, e))
	require.NoError(w.t, recorder.SettleWith(w.t.Context(), h.ID, h.Amount, []router.Event{e}))
	w.spent(cent)
}

func (w *world) bug12() {
	lines := make([]router.Line, 6)
	for i := range lines {
		lines[i] = router.Line{Owner: w.account, Window: strconv.Itoa(i)}
	}
	var all sync.WaitGroup
	for i := range 32 {
		set := []router.Ledger{w.one.Ledger, w.other.Ledger}[i%2]
		h := w.hold(i, cent)
		h.Lines = nil
		for n := range lines {
			h.Lines = append(h.Lines, lines[(n*(1+4*(i%2))+i)%len(lines)]) // forwards or backwards, from any line
		}
		all.Go(func() {
			assert.NoError(w.t, set.Reserve(w.t.Context(), h))
			assert.NoError(w.t, set.Settle(w.t.Context(), h.ID, h.Amount))
		})
	}
	all.Wait()
	for _, line := range lines {
		assert.Equal(w.t, router.Balance{Spent: router.Amount{Credit: 32 * cent, Total: 32 * cent}}, w.on(line))
	}
}

func (w *world) bug13() {
	const tokens, money = 10_000_000_000, 4_000_000_000*router.Dollar + 1
	for n := range 2 {
		h, e := w.hold(n, money), w.event(fmt.Sprint("/", n))
		e.Prompt, e.Completion, e.Cost = tokens, tokens+1, h.Amount
		require.NoError(w.t, w.one.Ledger.Reserve(w.t.Context(), h))
		require.NoError(w.t, w.settleWith(h, e))
	}
	w.spent(2 * money)
	assert.EqualValues(w.t, 2*tokens, w.used().Prompt)
	assert.EqualValues(w.t, 2*tokens+2, w.used().Completion)
}

func (w *world) bug14() {
	g, other := w.gateway(w.one, fee(cent), fee(cent), keyLimit(10*cent)), w.gateway(w.other, fee(cent), fee(cent), keyLimit(10*cent))
	assert.EqualValues(w.t, 6, crowd(6, g))
	assert.EqualValues(w.t, 4, crowd(6, other), "it knows what the first has spent")
	assert.Zero(w.t, crowd(3, g), "and the first what it has")
	w.spent(10 * cent)
}

func (w *world) bug15() {
	daily := budget(keyCheck, router.OwnerKey, router.Daily, 3*cent)
	fast := &world{engine: w.engine, t: w.t, account: w.account}
	g, other := w.gateway(w.one, fee(cent), fee(cent), daily), fast.gateway(w.other, fee(cent), fee(cent), daily)
	w.clock.Store(12*60 - 2) // 23:58
	fast.clock.Store(12*60 + 3)
	assert.EqualValues(w.t, 2, crowd(2, g), "of the old day")
	assert.EqualValues(w.t, 2, crowd(2, other), "the new one has begun there")
	w.clock.Store(12*60 + 1)
	assert.EqualValues(w.t, 1, crowd(5, g), "and here it is the same one")
	w.clock.Store(12*60 - 30)
	assert.Zero(w.t, crowd(2, g), "no call goes back to a day that is over")
	w.clock.Store(36 * 60)
	assert.EqualValues(w.t, 3, crowd(5, g), "the new window needs no reset")
	w.spent(8 * cent)
}

func (w *world) bug16() {
	g := w.gateway(w.one, fee(40*cent), fee(40*cent), budget(guardrailCheck, router.OwnerWorkspace, router.Daily, 15*router.Dollar))
	for n := range 37 {
		require.True(w.t, g.ask("x"), "call %d", n)
	}
	assert.False(w.t, g.ask("x"), "this call would exceed the limit")
	w.spent(37 * 40 * cent)
	assert.Equal(w.t, 20*cent, 15*router.Dollar-w.stands().Spent.Credit)
}
