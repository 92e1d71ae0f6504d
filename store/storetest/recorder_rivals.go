package storetest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// rivalReaders read while others settle: what the balances contain must be in the activity that
// is read afterwards, and the other way round.
func (r *registry) rivalReaders() {
	const settlements = 200
	var done atomic.Bool
	var wg sync.WaitGroup
	for n := range 4 {
		var holds []router.Hold
		for range settlements / 4 {
			h := r.hold(1, 1)
			r.reserve(h)
			holds = append(holds, h)
		}
		wg.Go(func() {
			for i, h := range holds {
				e := used(fmt.Sprintf("%d/%d", n, i), 1, 1)
				assert.NoError(r.t, r.SettleWith(r.t.Context(), h.ID, e.Cost, []router.Event{e}))
			}
		})
	}
	spent := func() router.USD {
		list, err := r.Balances(r.t.Context(), []router.Line{lineOf("a")})
		require.NoError(r.t, err)
		return list[0].Spent.Total
	}
	shown := func() (sum router.USD) {
		items, err := r.shown.Items(r.t.Context(), activity.Range{Account: "acme", From: "2026-11-01", To: "2026-11-30"})
		require.NoError(r.t, err)
		for _, item := range items {
			sum += item.Cost.Total
		}
		return sum
	}
	go func() { wg.Wait(); done.Store(true) }()
	for !done.Load() {
		before := spent()
		assert.GreaterOrEqual(r.t, shown(), before, "what is spent is shown")
		before = shown()
		assert.GreaterOrEqual(r.t, spent(), before, "what is shown is spent")
	}
	assert.EqualValues(r.t, settlements, spent())
	assert.EqualValues(r.t, settlements, shown())
}

func (r *registry) rivalNonsense() {
	nonsense := func(i int) router.Event {
		e := used(fmt.Sprint("nonsense/", i), 1, 1)
		e.Principal.Account = "other"
		switch i % 3 {
		case 0:
			e.Prompt = math.MaxInt64 // cannot be added to
		case 1:
			e.Model = "a\x00b"
		default:
			e.Provider = strings.Repeat("long", 1<<16)
		}
		return e
	}
	r.settleWith(r.reserve(r.hold(1, 1)), amount(1, 1), nonsense(0))
	var wg sync.WaitGroup
	var events []router.Event
	for i := range 32 {
		h, e := r.hold(1, 1), used(fmt.Sprint("e/", i), 1, 1)
		h.Lines = []router.Line{lineOf("c")}
		if i%8 == 0 {
			e = nonsense(3 + i/8)
		} else {
			events = append(events, e)
		}
		r.reserve(h)
		wg.Go(func() {
			if err := r.SettleWith(r.t.Context(), h.ID, amount(1, 1), []router.Event{e}); i%8 != 0 {
				assert.NoError(r.t, err)
			}
		})
	}
	wg.Wait()
	r.shows(events...)
}

func (r *registry) rivalRecords() {
	id := r.holding(3, 4, onHold("a/held"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			assert.NoError(r.t, r.SettleWith(r.t.Context(), id, amount(2, 2), []router.Event{used("a/0", 2, 2)}))
		})
		wg.Go(func() {
			_, err := r.Expire(r.t.Context(), noon().Add(time.Hour), 1, router.ExpirePost)
			assert.NoError(r.t, err)
		})
		wg.Go(func() { assert.NoError(r.t, r.shown.Record(r.t.Context(), []router.Event{used("a/0", 2, 2)})) })
	}
	wg.Wait()
	r.stands(amount(2, 2), amount(0, 0))
	r.shows(used("a/0", 2, 2))
}
