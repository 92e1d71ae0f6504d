package proofs

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/lease"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

// Two programs concurrently do random operations on the same holds: they reserve,
// raise, split, settle, void and expire them, also repeatedly. No cost has more credit
// than its hold, so no line ever exceeds its limit. The books always add up.
func TestRivalsOnOneBook(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		pool, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "signalbox.db"))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, pool.Close()) })
		newRivals(t,
			func(ctx context.Context) (store.Set, error) { return sqlite.New(ctx, pool, sqlite.Config{}) },
			func(ctx context.Context) (store.Verified, error) { return sqlite.Verify(ctx, pool, sqlite.Config{}) }).run()
	})
	for _, isolation := range []string{"read committed", "repeatable read", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.Pool(t, pgtest.Config{Settings: map[string]string{"default_transaction_isolation": isolation}})
			newRivals(t,
				func(ctx context.Context) (store.Set, error) {
					return postgres.New(ctx, pool, postgres.Config{Schema: pgtest.Schema(pool)})
				},
				func(ctx context.Context) (store.Verified, error) {
					return postgres.Verify(ctx, pool, postgres.Config{Schema: pgtest.Schema(pool)})
				}).run()
		})
	}
}

const (
	rivalLimit  = 12 // of each line
	rivalSteps  = 40 // of each client
	rivalsAtOne = 8  // holds in use at once
)

// rivals are two programs on one database.
type rivals struct {
	*testing.T

	bases  [2]lease.Base
	verify func(ctx context.Context) (store.Verified, error)
	seed   uint64
}

func newRivals(
	t *testing.T, open func(context.Context) (store.Set, error), verify func(context.Context) (store.Verified, error),
) *rivals {
	t.Helper()
	r := &rivals{T: t, verify: verify, seed: uint64(time.Now().UnixNano())}
	t.Logf("seed %d", r.seed)
	for i := range r.bases {
		set, err := open(t.Context())
		require.NoError(t, err)
		base, ok := set.Ledger.(lease.Base)
		require.True(t, ok)
		r.bases[i] = base
	}
	return r
}

func (r *rivals) run() {
	var clients, watchers sync.WaitGroup
	over := make(chan struct{})
	watchers.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				if !r.within() || !r.addsUp() {
					return
				}
			}
		}
	})
	for i := range 12 {
		clients.Go(func() {
			draw := rand.New(rand.NewPCG(r.seed, uint64(i)))
			for step := range rivalSteps {
				r.step(draw, r.bases[i%2], uint32(3*step+draw.IntN(rivalsAtOne)))
			}
		})
	}
	clients.Wait()
	close(over)
	watchers.Wait()
	_, err := r.bases[0].Expire(r.Context(), time.Unix(100, 0), 3*rivalSteps*rivalsAtOne, router.ExpireVoid)
	require.NoError(r, err)
	assert.True(r, r.within() && r.addsUp())
	for _, on := range r.balances() {
		assert.Zero(r, on.Held)
	}
}

// step runs a random operation on the hold with a number.
func (r *rivals) step(draw *rand.Rand, l lease.Base, n uint32) {
	part := router.Hold{ID: rivalID(n, byte(1+draw.IntN(3))), Deadline: time.Unix(2, 0)}
	part.Event = rivalEvent(n, part.ID, "held", router.Amount{})
	whole := rivalID(n, 0)
	own := router.Amount{Total: 3} // BYOK, which no limit here counts
	ctx := r.Context()
	var err error
	switch draw.IntN(12) {
	case 0, 1, 2, 3:
		credit := router.USD(draw.IntN(5))
		h := router.Hold{
			ID: whole, Lines: rivalLines(n), Amount: router.Amount{Credit: credit, Total: credit + router.USD(draw.IntN(2))},
			Deadline: time.Unix(int64(draw.IntN(3)), 0), Event: rivalEvent(n, whole, "held", router.Amount{}),
		}
		for _, line := range h.Lines {
			h.Caps = append(h.Caps, router.Cap{Line: line, Max: rivalLimit - router.USD(4*draw.IntN(2))})
		}
		err = l.Reserve(ctx, h)
	case 4, 5, 6:
		err = l.SettleWith(ctx, whole, own, []router.Event{rivalEvent(n, whole, "0", own)})
	case 7:
		err = l.Void(ctx, whole)
	case 8, 9:
		part.Amount = router.Amount{Total: 1}
		err = l.SettlePart(ctx, whole, part, own, []router.Event{rivalEvent(n, part.ID, "0", own)})
	case 10:
		part.Amount = router.Amount{Credit: 1, Total: 1}
		err = l.Split(ctx, whole, part)
	default:
		_, err = l.Expire(ctx, time.Unix(int64(draw.IntN(3)), 0), 5, []router.Expiry{router.ExpirePost, router.ExpireVoid}[draw.IntN(2)])
	}
	if _, refused := errors.AsType[*router.LimitError](err); !refused && !errors.Is(err, router.ErrConflict) && !errors.Is(err, router.ErrNoHold) {
		assert.NoError(r, err)
	}
}

// within reports whether no line exceeds its limit.
func (r *rivals) within() bool {
	ok := true
	for _, on := range r.balances() {
		ok = assert.LessOrEqual(r, on.Spent.Credit+on.Held.Credit, router.USD(rivalLimit)) &&
			assert.GreaterOrEqual(r, on.Held.Credit, router.USD(0)) && assert.GreaterOrEqual(r, on.Held.Total, on.Held.Credit) && ok
	}
	return ok
}

// addsUp reports whether lines equal the sums of holds and events, and roll-ups those
// of events.
func (r *rivals) addsUp() bool {
	found, err := r.verify(r.Context())
	return assert.NoError(r, err) && assert.Empty(r, found.Differences)
}

func (r *rivals) balances() []router.Balance {
	var lines []router.Line
	for n := range uint32(4) {
		lines = append(lines, rivalLines(n)...)
	}
	on, err := r.bases[1].Balances(r.Context(), lines)
	assert.NoError(r, err)
	return on
}

// rivalID returns the ID of the hold with a number, or of one of its parts.
func rivalID(n uint32, part byte) (id uuid.UUID) {
	binary.BigEndian.PutUint32(id[4:], n)
	id[15] = part
	return id
}

func rivalPrincipal(n uint32) router.Principal {
	return router.Principal{Account: "acme", KeyHash: strconv.Itoa(int(n % 2))}
}

// rivalLines returns a line of an account and one of a key.
func rivalLines(n uint32) (lines []router.Line) {
	for _, owner := range []router.Owner{router.OwnerKey, router.OwnerAccount} {
		for interval := router.Lifetime; interval <= router.Daily; interval++ {
			lines = append(lines, owner.Line(rivalPrincipal(n), interval.Window(time.Unix(0, 0))))
		}
	}
	return lines
}

func rivalEvent(n uint32, id uuid.UUID, name string, cost router.Amount) router.Event {
	return router.Event{
		ID: id.String() + "/" + name, Admitted: time.Unix(0, 0), Principal: rivalPrincipal(n),
		Model: "m" + strconv.Itoa(int(n%3)), Requests: 1, Cost: cost,
	}
}
