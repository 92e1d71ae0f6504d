package signalbox_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func TestSweepCountsHoldsWithoutAnOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		catalog, err := router.NewCatalog([]router.Model{{ID: "a/b", Permaslug: "a/b-1"}},
			[]router.ProviderInfo{{Slug: "ant", Client: &refusing{}}}, []router.Endpoint{{Provider: "ant", Model: "a/b"}})
		require.NoError(t, err)
		s, err := signalbox.New(signalbox.Config{Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		line := router.Line{Owner: "key:a", Window: "ever"}
		require.NoError(t, set.Ledger.Reserve(t.Context(), router.Hold{
			ID: uuid.UUID{1}, Lines: []router.Line{line}, Amount: router.Amount{Credit: 5, Total: 5}, Deadline: time.Now().Add(90 * time.Second),
		}))
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx)
		balance := func() router.Balance {
			synctest.Wait()
			b, err := set.Ledger.Balances(t.Context(), []router.Line{line})
			require.NoError(t, err)
			return b[0]
		}
		time.Sleep(61 * time.Second) // of the bubble's clock, as below
		assert.Equal(t, router.USD(5), balance().Held.Credit, "not yet")
		time.Sleep(time.Minute)
		assert.Equal(t, router.Balance{Spent: router.Amount{Credit: 5, Total: 5}}, balance())
		cancel()
		synctest.Wait() // Run ends with its context, or the bubble would not
	})
}

// explosive is a ledger whose Expire panics.
type explosive struct {
	router.Ledger
	swept int
}

func (e *explosive) Expire(context.Context, time.Time, int, router.Expiry) (int, error) {
	e.swept++
	panic("ledger")
}

func TestSweepOutlivesALedgerThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := memory.New()
		ledger := &explosive{Ledger: set.Ledger}
		set.Ledger = ledger
		catalog, err := router.NewCatalog(nil, nil, nil)
		require.NoError(t, err)
		s, err := signalbox.New(signalbox.Config{Catalog: catalog, Stores: set, SealingKeys: demo.SealingKeys(), Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Second)
		defer cancel()
		s.Run(ctx)
		assert.Equal(t, 3, ledger.swept)
	})
}
