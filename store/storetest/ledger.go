package storetest

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func testLedger(t *testing.T, open Open) {
	t.Helper()
	if open(t).Ledger == nil {
		t.Skip("no Ledger")
	}
	for name, test := range map[string]func(*books){
		"a hold is added to every line, or to none":              (*books).allOrNone,
		"the first cap that refuses is named":                    (*books).firstCap,
		"a cap is inclusive":                                     (*books).inclusive,
		"a cap without an added amount never refuses":            (*books).nothingAdded,
		"a hold is raised to the larger amounts":                 (*books).raised,
		"only the difference of a raise is checked":              (*books).raiseChecksDifference,
		"a refused raise leaves the hold as it was":              (*books).refusedRaise,
		"other lines than before are a conflict":                 (*books).otherLines,
		"a closed hold cannot be reserved again":                 (*books).closedHold,
		"spending is recorded even above the hold and the limit": (*books).overspent,
		"a settlement after void is recorded":                    (*books).settleVoided,
		"a settlement after expiry corrects what was posted":     (*books).settleExpired,
		"settling twice is a no-op with one cost only":           (*books).settleTwice,
		"an unknown hold is no hold":                             (*books).unknown,
		"void gives an open hold back and leaves a settled one":  (*books).void,
		"void takes back what expiry posted":                     (*books).voidExpired,
		"concurrent voids take back what expiry posted once":     (*books).rivalVoids,
		"expiry closes at most limit holds past their deadline":  (*books).expire,
		"a raise moves the deadline to the later":                (*books).raisedDeadline,
		"a closed hold is known for a day after its deadline":    (*books).remembered,
		"balances come in the order asked":                       (*books).inOrder,
		"methods honour their context":                           (*books).context,
		"concurrent holds never pass a cap":                      (*books).rivals,
		"concurrent settlements charge a hold once":              (*books).rivalSettlements,
		"a hold that cannot be stored fails alone":               (*books).rivalNonsense,
	} {
		t.Run(name, func(t *testing.T) { test(&books{t: t, Ledger: open(t).Ledger}) })
	}
	t.Run("random histories have the results of the model", func(t *testing.T) { ledgerHistories(t, open) })
}

// books are an empty ledger under test.
type books struct {
	router.Ledger

	t *testing.T
	n uint64 // IDs made so far
}

// noon is the deadline of the tests' holds.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func lineOf(owner string) router.Line { return router.Line{Owner: owner, Window: "2026-11"} }

func amount(credit, total router.USD) router.Amount {
	return router.Amount{Credit: credit, Total: total}
}

// hold returns a hold of an amount on the lines a and b.
func (b *books) hold(credit, total router.USD, caps ...router.Cap) router.Hold {
	b.n++
	h := router.Hold{
		Lines: []router.Line{lineOf("a"), lineOf("b")}, Caps: caps, Amount: amount(credit, total), Deadline: noon(),
	}
	binary.BigEndian.PutUint64(h.ID[8:], b.n)
	return h
}

func capOn(owner string, most router.USD) router.Cap {
	return router.Cap{Line: lineOf(owner), Max: most}
}

// reserve reserves a hold, which must be accepted.
func (b *books) reserve(h router.Hold) uuid.UUID {
	b.t.Helper()
	require.NoError(b.t, b.Reserve(b.t.Context(), h))
	return h.ID
}

func (b *books) settle(id uuid.UUID, cost router.Amount) {
	b.t.Helper()
	require.NoError(b.t, b.Settle(b.t.Context(), id, cost))
}

func (b *books) refused(h router.Hold, index int, left router.USD) {
	b.t.Helper()
	var refused *router.LimitError
	require.ErrorAs(b.t, b.Reserve(b.t.Context(), h), &refused)
	assert.Equal(b.t, router.LimitError{Cap: index, Left: left}, *refused)
}

// stands requires the same balance on both lines.
func (b *books) stands(spent, held router.Amount) {
	b.t.Helper()
	list, err := b.Balances(b.t.Context(), []router.Line{lineOf("a"), lineOf("b")})
	require.NoError(b.t, err)
	want := router.Balance{Spent: spent, Held: held}
	assert.Equal(b.t, []router.Balance{want, want}, list)
}

func (b *books) allOrNone() {
	b.refused(b.hold(2, 2, capOn("a", 5), capOn("b", 1)), 1, 1)
	b.stands(amount(0, 0), amount(0, 0))
	b.reserve(b.hold(2, 3))
	b.stands(amount(0, 0), amount(2, 3))
}

func (b *books) firstCap() {
	b.settle(b.reserve(b.hold(3, 3)), amount(3, 3))
	b.refused(b.hold(2, 2, capOn("a", 5), capOn("b", 4), capOn("a", 1)), 1, 1)
	b.refused(b.hold(2, 2, capOn("a", 1), capOn("b", 4)), 0, -2)
}

func (b *books) inclusive() {
	b.settle(b.reserve(b.hold(3, 3)), amount(3, 3))
	b.reserve(b.hold(1, 1))
	b.reserve(b.hold(1, 1, capOn("a", 5)))
	b.refused(b.hold(1, 1, capOn("a", 5)), 0, 0)
}

func (b *books) nothingAdded() {
	b.settle(b.reserve(b.hold(3, 3)), amount(3, 3))
	b.reserve(b.hold(0, 0, capOn("a", 1)))
	own := b.hold(0, 2, capOn("a", 1))
	b.reserve(own)
	counted := b.hold(0, 2, capOn("a", 1), router.Cap{Line: lineOf("b"), Max: 6, BYOK: true})
	b.refused(counted, 1, 1)
	b.stands(amount(3, 3), amount(0, 2))
}

func (b *books) raised() {
	h := b.hold(0, 5)
	b.reserve(h)
	h.Amount = amount(3, 3)
	b.reserve(h)
	b.stands(amount(0, 0), amount(3, 5))
	b.reserve(h)
	b.stands(amount(0, 0), amount(3, 5))
}

func (b *books) raiseChecksDifference() {
	h := b.hold(3, 3, capOn("a", 5))
	b.reserve(h)
	h.Amount = amount(5, 5)
	b.reserve(h)
	h.Caps = []router.Cap{capOn("a", 1)}
	b.reserve(h)
	b.stands(amount(0, 0), amount(5, 5))
}

func (b *books) refusedRaise() {
	h := b.hold(3, 3, capOn("a", 5))
	b.reserve(h)
	h.Amount, h.Deadline = amount(6, 6), noon().Add(time.Hour)
	b.refused(h, 0, 2)
	b.stands(amount(0, 0), amount(3, 3))
	n, err := b.Expire(b.t.Context(), noon().Add(time.Minute), 1, router.ExpireVoid)
	require.NoError(b.t, err)
	assert.Equal(b.t, 1, n, "its deadline is the first")
}

func (b *books) otherLines() {
	h := b.hold(3, 3)
	b.reserve(h)
	h.Lines = []router.Line{lineOf("a"), lineOf("c")}
	require.ErrorIs(b.t, b.Reserve(b.t.Context(), h), router.ErrConflict)
	h.Lines = []router.Line{lineOf("a")}
	require.ErrorIs(b.t, b.Reserve(b.t.Context(), h), router.ErrConflict)
	b.stands(amount(0, 0), amount(3, 3))
}

func (b *books) closedHold() {
	h := b.hold(3, 3)
	b.settle(b.reserve(h), amount(1, 1))
	require.ErrorIs(b.t, b.Reserve(b.t.Context(), h), router.ErrConflict)
	void := b.hold(3, 3)
	require.NoError(b.t, b.Void(b.t.Context(), b.reserve(void)))
	require.ErrorIs(b.t, b.Reserve(b.t.Context(), void), router.ErrConflict)
}

func (b *books) overspent() {
	b.settle(b.reserve(b.hold(3, 3, capOn("a", 3))), amount(7, 8))
	b.stands(amount(7, 8), amount(0, 0))
	b.refused(b.hold(1, 1, capOn("a", 3)), 0, -4)
}

func (b *books) settleVoided() {
	id := b.reserve(b.hold(3, 3))
	require.NoError(b.t, b.Void(b.t.Context(), id))
	b.settle(id, amount(2, 2))
	b.stands(amount(2, 2), amount(0, 0))
}

func (b *books) settleExpired() {
	id := b.reserve(b.hold(3, 4))
	n, err := b.Expire(b.t.Context(), noon().Add(1), 10, router.ExpirePost)
	require.NoError(b.t, err)
	assert.Equal(b.t, 1, n)
	b.stands(amount(3, 4), amount(0, 0))
	b.settle(id, amount(1, 2))
	b.stands(amount(1, 2), amount(0, 0))
	b.settle(id, amount(1, 2))
	b.stands(amount(1, 2), amount(0, 0))
}

func (b *books) settleTwice() {
	id := b.reserve(b.hold(3, 3))
	b.settle(id, amount(2, 2))
	b.settle(id, amount(2, 2))
	require.ErrorIs(b.t, b.Settle(b.t.Context(), id, amount(2, 3)), router.ErrConflict)
	b.stands(amount(2, 2), amount(0, 0))
}

func (b *books) unknown() {
	require.ErrorIs(b.t, b.Settle(b.t.Context(), uuid.UUID{9}, amount(1, 1)), router.ErrNoHold)
	require.NoError(b.t, b.Void(b.t.Context(), uuid.UUID{9}))
	b.stands(amount(0, 0), amount(0, 0))
}

func (b *books) void() {
	id := b.reserve(b.hold(3, 3))
	require.NoError(b.t, b.Void(b.t.Context(), id))
	require.NoError(b.t, b.Void(b.t.Context(), id))
	b.stands(amount(0, 0), amount(0, 0))
	id = b.reserve(b.hold(3, 3))
	b.settle(id, amount(1, 1))
	require.NoError(b.t, b.Void(b.t.Context(), id))
	b.stands(amount(1, 1), amount(0, 0))
}

func (b *books) voidExpired() {
	other := b.reserve(b.hold(2, 2))
	id := b.reserve(b.hold(3, 4))
	n, err := b.Expire(b.t.Context(), noon().Add(1), 10, router.ExpirePost)
	require.NoError(b.t, err)
	assert.Equal(b.t, 2, n)
	for range 2 {
		require.NoError(b.t, b.Void(b.t.Context(), id))
		b.stands(amount(2, 2), amount(0, 0))
	}
	b.settle(id, amount(1, 1))
	b.stands(amount(3, 3), amount(0, 0))
	require.NoError(b.t, b.Void(b.t.Context(), id))
	b.stands(amount(3, 3), amount(0, 0))
	require.NoError(b.t, b.Void(b.t.Context(), other))
	b.reserve(b.hold(1, 1, capOn("a", 4)))
}

func (b *books) rivalVoids() {
	id := b.reserve(b.hold(3, 3))
	b.reserve(b.hold(1, 1))
	_, err := b.Expire(b.t.Context(), noon().Add(1), 10, router.ExpirePost)
	require.NoError(b.t, err)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { assert.NoError(b.t, b.Void(b.t.Context(), id)) })
		wg.Go(func() {
			_, err := b.Expire(b.t.Context(), noon().Add(2), 10, router.ExpirePost)
			assert.NoError(b.t, err)
		})
	}
	wg.Wait()
	b.stands(amount(1, 1), amount(0, 0))
}

func (b *books) expire() {
	for range 3 {
		b.reserve(b.hold(1, 1))
	}
	late := b.hold(5, 5)
	late.Deadline = noon().Add(time.Hour)
	b.reserve(late)
	for i, want := range []int{0, 2, 1, 0} {
		n, err := b.Expire(b.t.Context(), noon().Add(time.Duration(i)), 2, router.ExpireVoid)
		require.NoError(b.t, err)
		assert.Equal(b.t, want, n, "call %d", i)
	}
	b.stands(amount(0, 0), amount(5, 5))
}

func (b *books) raisedDeadline() {
	h := b.hold(1, 1)
	h.Deadline = noon().Add(time.Hour)
	b.reserve(h)
	h.Deadline = noon()
	b.reserve(h)
	n, err := b.Expire(b.t.Context(), noon().Add(time.Minute), 2, router.ExpireVoid)
	require.NoError(b.t, err)
	assert.Zero(b.t, n)
	n, err = b.Expire(b.t.Context(), noon().Add(2*time.Hour), 2, router.ExpireVoid)
	require.NoError(b.t, err)
	assert.Equal(b.t, 1, n)
}

func (b *books) remembered() {
	id := b.reserve(b.hold(1, 1))
	b.settle(id, amount(1, 1))
	_, err := b.Expire(b.t.Context(), noon().Add(24*time.Hour), 10, router.ExpirePost)
	require.NoError(b.t, err)
	b.reserve(b.hold(1, 1))
	b.settle(id, amount(1, 1))
}

func (b *books) inOrder() {
	h := b.hold(2, 3)
	h.Lines = []router.Line{lineOf("b")}
	b.reserve(h)
	list, err := b.Balances(b.t.Context(), []router.Line{{Owner: "b", Window: "ever"}, lineOf("b"), lineOf("a"), lineOf("b")})
	require.NoError(b.t, err)
	held := router.Balance{Held: amount(2, 3)}
	assert.Equal(b.t, []router.Balance{{}, held, {}, held}, list)
}

func (b *books) context() {
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	h := b.hold(1, 1)
	require.ErrorIs(b.t, b.Reserve(ctx, h), context.Canceled)
	require.ErrorIs(b.t, b.Settle(ctx, h.ID, amount(1, 1)), context.Canceled)
	require.ErrorIs(b.t, b.Void(ctx, h.ID), context.Canceled)
	_, err := b.Expire(ctx, noon(), 1, router.ExpirePost)
	require.ErrorIs(b.t, err, context.Canceled)
	_, err = b.Balances(ctx, nil)
	require.ErrorIs(b.t, err, context.Canceled)
	b.stands(amount(0, 0), amount(0, 0))
}

func (b *books) rivals() {
	var won atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		h := b.hold(1, 1, capOn("b", 10))
		wg.Go(func() {
			if b.Reserve(b.t.Context(), h) == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(b.t, 10, won.Load())
	b.stands(amount(0, 0), amount(10, 10))
}

func (b *books) rivalNonsense() {
	var wg sync.WaitGroup
	for i := range 32 {
		h, nonsense := b.hold(1, 1), i%8 == 0
		if nonsense {
			h.Lines = []router.Line{{Owner: []string{"a\x00b", "\xff", strings.Repeat("long", 1<<16)}[i/8%3], Window: "ever"}}
		}
		wg.Go(func() {
			if err := b.Reserve(b.t.Context(), h); !nonsense {
				assert.NoError(b.t, err)
			}
		})
	}
	wg.Wait()
	b.stands(amount(0, 0), amount(28, 28))
}

func (b *books) rivalSettlements() {
	id := b.reserve(b.hold(3, 3))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() { assert.NoError(b.t, b.Settle(b.t.Context(), id, amount(2, 2))) })
		wg.Go(func() { assert.NoError(b.t, b.Void(b.t.Context(), id)) })
	}
	wg.Wait()
	b.stands(amount(2, 2), amount(0, 0))
}
