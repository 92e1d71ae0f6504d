package sqlledger_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// However many holds are created between two calls of Expire, and however few of them
// Expire closes at once, closed holds do not pile up.
func TestExpireForgetsAllThatIsOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		made := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		hold := func(until time.Duration) router.Hold {
			h := holdOf(uuid.New(), router.Principal{Account: "a"}, made, 1)
			h.Deadline = made.Add(until)
			require.NoError(t, b.Ledger.Reserve(t.Context(), h))
			return h
		}
		hold(48 * time.Hour) // is open, and older than the others
		var over []router.Hold
		for range 7 {
			h := hold(time.Minute)
			require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount))
			over = append(over, h)
		}
		n, err := b.Ledger.Expire(t.Context(), made.Add(25*time.Hour), 2, router.ExpirePost)
		require.NoError(t, err)
		assert.Zero(t, n)
		for i, h := range over {
			assert.ErrorIs(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount), router.ErrNoHold, "hold %d", i)
		}
	})
}

// clogged are books in which all holds at the front must stay: recently closed ones
// and open ones.
type clogged struct {
	books

	made        time.Time
	open, young []router.Hold
}

// clog creates both kinds, half and half, with IDs before all others.
func clog(t *testing.T, b books, holds int) *clogged {
	t.Helper()
	c := &clogged{books: b, made: noon()}
	for i := range holds {
		id := uuid.UUID{15: byte(i)}
		if i%2 == 0 {
			c.open = append(c.open, c.hold(t, id, 30*24*time.Hour))
		} else {
			c.young = append(c.young, c.closed(t, id, 2*time.Hour))
		}
	}
	return c
}

func (c *clogged) hold(t *testing.T, id uuid.UUID, until time.Duration) router.Hold {
	t.Helper()
	h := holdOf(id, router.Principal{Account: "a"}, c.made, 1)
	h.Deadline = c.made.Add(until)
	require.NoError(t, c.Ledger.Reserve(t.Context(), h))
	return h
}

func (c *clogged) closed(t *testing.T, id uuid.UUID, until time.Duration) router.Hold {
	t.Helper()
	h := c.hold(t, id, until)
	require.NoError(t, c.Ledger.Settle(t.Context(), id, h.Amount))
	return h
}

// behind creates closed holds with random IDs.
func (c *clogged) behind(t *testing.T, holds int, until time.Duration) (made []router.Hold) {
	t.Helper()
	for range holds {
		id := uuid.New()
		id[0] |= 1
		made = append(made, c.closed(t, id, until))
	}
	return made
}

func (c *clogged) expire(t *testing.T, after time.Duration, limit int) {
	t.Helper()
	n, err := c.Ledger.Expire(t.Context(), c.made.Add(after), limit, router.ExpirePost)
	require.NoError(t, err)
	require.Zero(t, n)
}

// left counts the holds that are not forgotten.
func (c *clogged) left(t *testing.T, holds []router.Hold) (n int) {
	t.Helper()
	for _, h := range holds {
		if err := c.Ledger.Settle(t.Context(), h.ID, h.Amount); err == nil {
			n++
		} else {
			require.ErrorIs(t, err, router.ErrNoHold)
		}
	}
	return n
}

// However many holds stay at the front, and in any order of IDs, a lap of calls of
// Expire forgets every hold that may be forgotten, and no other.
func TestExpireForgetsBehindWhatStays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		const limit, lap = 4, 13 // of 50 holds
		c := clog(t, b, 20)
		over, later := c.behind(t, 10, time.Minute), c.behind(t, 20, 2*time.Hour)
		for range lap {
			c.expire(t, 25*time.Hour, limit)
		}
		assert.Zero(t, c.left(t, over))
		assert.Equal(t, len(later), c.left(t, later))
		assert.Equal(t, len(c.young), c.left(t, c.young))
		for range lap {
			c.expire(t, 73*time.Hour, limit)
		}
		assert.Zero(t, c.left(t, later), "in another lap")
		assert.Zero(t, c.left(t, c.young))
		assert.Equal(t, len(c.open), c.left(t, c.open))
	})
}

// A busy program creates more holds between two calls of Expire than one call visits.
func TestExpireGoesOnWhereMostIsOver(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		const limit = 4
		c := clog(t, b, limit)
		var over, later []router.Hold
		for i := range byte(10 * limit) {
			if id := (uuid.UUID{1, i}); i%limit == 0 {
				later = append(later, c.closed(t, id, 2*time.Hour))
			} else {
				over = append(over, c.closed(t, id, time.Minute))
			}
		}
		c.expire(t, 25*time.Hour, limit)
		assert.Zero(t, c.left(t, over))
		assert.Equal(t, len(later), c.left(t, later))
	})
}

// A hold past its deadline that was never closed stays.
func TestExpireForgetsNothingThatIsOpen(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		c := clog(t, b, 0)
		open, over := c.hold(t, uuid.New(), time.Minute), c.behind(t, 3, time.Minute)
		n, err := b.Ledger.Expire(t.Context(), c.made.Add(25*time.Hour), 10, router.ExpirePost)
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.Zero(t, c.left(t, over))
		assert.Equal(t, 1, c.left(t, []router.Hold{open}))
	})
}

func TestExpireForgetsNothingWithoutALimit(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		c := clog(t, b, 0)
		over := c.behind(t, 3, time.Minute)
		c.expire(t, 25*time.Hour, 0)
		c.expire(t, 25*time.Hour, -1)
		assert.Equal(t, len(over), c.left(t, over))
	})
}

// Processes, and goroutines of one process, that forget at the same time do not block
// each other.
func TestManyExpireAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		const limit, lap, at = 4, 15, 3 // of 60 holds
		other, err := b.open(t.Context())
		require.NoError(t, err)
		c := clog(t, b, 20)
		over, later := c.behind(t, 20, time.Minute), c.behind(t, 20, 2*time.Hour)
		var all sync.WaitGroup
		for _, ledger := range []router.Ledger{b.Ledger, other.Ledger} {
			for range at {
				all.Go(func() {
					for range lap {
						_, err := ledger.Expire(t.Context(), c.made.Add(25*time.Hour), limit, router.ExpirePost)
						assert.NoError(t, err)
					}
				})
			}
		}
		all.Wait()
		for range lap { // of those at once, some went the same way
			c.expire(t, 25*time.Hour, limit)
		}
		assert.Zero(t, c.left(t, over))
		assert.Equal(t, len(later), c.left(t, later))
		assert.Equal(t, len(c.young)+len(c.open), c.left(t, c.young)+c.left(t, c.open))
	})
}

// Of events with one ID, the first is kept and counted by the roll-ups.
func TestOneIDTwiceInABatch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		h := holdOf(uuid.New(), router.Principal{Account: "a", KeyHash: "k"}, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 5)
		require.NoError(t, b.Ledger.Reserve(t.Context(), h))
		require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, h.Amount))
		first, second := used(h, 5), used(h, 7)
		require.NoError(t, b.Activity.Record(t.Context(), []router.Event{first, second}))
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	})
}

// After a machine has slept for days its clock is far ahead. Calls that were in flight
// can still be settled at their cost.
func TestExpireForgetsNothingThatItCloses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		h := holdOf(uuid.New(), someone(), noon(), 5)
		require.NoError(t, b.Ledger.Reserve(t.Context(), h))
		n, err := b.Ledger.Expire(t.Context(), noon().AddDate(0, 0, 3), 10, router.ExpirePost)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, b.Ledger.Settle(t.Context(), h.ID, router.Amount{Credit: 2, Total: 2}))
		list, err := b.Ledger.Balances(t.Context(), h.Lines[:1])
		require.NoError(t, err)
		assert.Equal(t, []router.Balance{{Spent: router.Amount{Credit: 2, Total: 2}}}, list)
	})
}
