package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// slowBooks takes its time to settle.
type slowBooks struct {
	router.Ledger

	settle func(ctx context.Context) error
}

func (s *slowBooks) Settle(ctx context.Context, _ uuid.UUID, _ router.Amount) error {
	return s.settle(ctx)
}

// TestSettlingOutlivesTheCallerForTenSeconds, in whatever way the ledger looks at
// its context.
func TestSettlingOutlivesTheCallerForTenSeconds(t *testing.T) {
	type key struct{}
	for name, wait := range map[string]func(ctx context.Context){
		"done": func(ctx context.Context) { <-ctx.Done() },
		"deadline": func(ctx context.Context) {
			end, ok := ctx.Deadline()
			require.True(t, ok)
			<-time.After(time.Until(end))
			synctest.Wait()
		},
		"child": func(ctx context.Context) {
			child, stop := context.WithCancel(ctx)
			defer stop()
			<-child.Done()
			assert.ErrorIs(t, child.Err(), context.DeadlineExceeded)
		},
		"after": func(ctx context.Context) {
			called := make(chan struct{})
			context.AfterFunc(ctx, func() { close(called) })
			<-called
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caller, hangUp := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
				settle := func(ctx context.Context) error {
					hangUp()
					require.NoError(t, ctx.Err())
					assert.Equal(t, "value", ctx.Value(key{}))
					begun := time.Now()
					wait(ctx)
					assert.Equal(t, 10*time.Second, time.Since(begun))
					assert.Equal(t, "value", ctx.Value(key{}))
					return ctx.Err()
				}
				r := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = &slowBooks{memory.New().Ledger, settle} }, fee(cent))
				_, err := r.router.Decide(caller, &router.Call{Request: decision(byPrice), Principal: who()})
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// TestALedgerThatIsDoneNeedsNoTimer: what still waits ends with the call.
func TestALedgerThatIsDoneNeedsNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, ended := time.Now(), make(chan error)
		settle := func(ctx context.Context) error {
			go func() { <-ctx.Done(); ended <- ctx.Err() }()
			synctest.Wait()
			return ctx.Err()
		}
		r := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = &slowBooks{memory.New().Ledger, settle} }, fee(cent))
		_, err := r.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
		require.NoError(t, err)
		require.ErrorIs(t, <-ended, context.Canceled)
		assert.Equal(t, begun, time.Now())
	})
}
