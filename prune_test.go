package signalbox_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// prunes is a Pruner that counts laps, each of three batches.
type prunes struct {
	mu     sync.Mutex
	laps   int
	before time.Time
}

// seen returns the number of laps, and the time up to which the last one deleted.
func (p *prunes) seen() (laps int, before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.laps, p.before
}

func (p *prunes) Prune(_ context.Context, before time.Time, from string, _ int) (store.Pruned, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = before
	if len(from) == 2 {
		p.laps++
		return store.Pruned{Dropped: 1}, nil
	}
	return store.Pruned{Next: from + "x", Dropped: 1}, nil
}

func TestPruneGoesALapAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, counts := memory.New(), &prunes{}
		set.Pruner = counts
		s := newPruned(t, set, 400*24*time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		synctest.Wait()
		laps, before := counts.seen()
		assert.Equal(t, 1, laps, "at once")
		assert.Equal(t, 400*24*time.Hour, time.Since(before))
		time.Sleep(2*time.Hour + time.Minute) // of the bubble's clock
		synctest.Wait()
		laps, _ = counts.seen()
		assert.Equal(t, 3, laps)
		cancel()
		synctest.Wait() // Run ends with its context, or the bubble would not
	})
}

func TestPruneDropsPastWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		s := newPruned(t, set, signalbox.MinRetention)
		line := router.Line{Owner: "key:a", Window: router.Daily.Window(time.Now())}
		h := router.Hold{ID: uuid.UUID{1}, Lines: []router.Line{line}, Amount: router.Amount{Credit: 5, Total: 5}, Deadline: time.Now()}
		require.NoError(t, set.Ledger.Reserve(t.Context(), h))
		require.NoError(t, set.Ledger.Settle(t.Context(), h.ID, h.Amount))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Run(ctx)
		spent := func() router.USD {
			synctest.Wait()
			b, err := set.Ledger.Balances(t.Context(), []router.Line{line})
			require.NoError(t, err)
			return b[0].Spent.Credit
		}
		time.Sleep(signalbox.MinRetention - time.Hour) // of the bubble's clock
		assert.Equal(t, router.USD(5), spent())
		time.Sleep(26 * time.Hour)
		assert.Zero(t, spent())
	})
}

func newPruned(t *testing.T, set store.Set, retention time.Duration) *signalbox.Service {
	t.Helper()
	catalog, err := router.NewCatalog([]router.Model{{ID: "a/b", Permaslug: "a/b-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: &refusing{}}}, []router.Endpoint{{Provider: "ant", Model: "a/b"}})
	require.NoError(t, err)
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Retention: retention, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return s
}

// explosivePruner panics.
type explosivePruner struct{ asked int }

func (p *explosivePruner) Prune(context.Context, time.Time, string, int) (store.Pruned, error) {
	p.asked++
	panic("pruner")
}

func TestPruneOutlivesAPrunerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, pruner := memory.New(), &explosivePruner{}
		set.Pruner = pruner
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour+time.Minute)
		defer cancel()
		newPruned(t, set, signalbox.MinRetention).Run(ctx)
		assert.Equal(t, 3, pruner.asked)
	})
}
