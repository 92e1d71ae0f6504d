package router_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// settleTime is the total time for closing a hold.
const settleTime = 10 * time.Second

// slowBooks is a ledger that settles slowly.
type slowBooks struct {
	router.Ledger

	settle func(ctx context.Context) error
}

func (s *slowBooks) Settle(ctx context.Context, _ uuid.UUID, _ router.Amount) error {
	return s.settle(ctx)
}

// TestSettlingOutlivesTheCallerForTenSeconds, whichever methods of its context the
// ledger calls.
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

// TestALedgerThatIsDoneNeedsNoTimer: a goroutine that still waits for the context
// ends with the call.
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

// TestAnswersOfTheLedgerStand: a final error is not retried, at the first attempt
// or later.
func TestAnswersOfTheLedgerStand(t *testing.T) {
	for name, answer := range map[string]error{
		"no hold":  fmt.Errorf("wrapped: %w", router.ErrNoHold),
		"conflict": router.ErrConflict,
		"a limit":  &router.LimitError{},
		"final":    fmt.Errorf("a text that no database takes: %w", router.ErrFinal),
	} {
		for _, failures := range []int{0, 1, 3} {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				settle := func(context.Context) error {
					if tries++; tries <= failures {
						return errTape
					}
					return answer
				}
				r := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = &slowBooks{memory.New().Ledger, settle} }, fee(cent))
				begun := time.Now()
				_, err := r.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
				require.ErrorIs(t, err, answer, name)
				assert.Equal(t, router.Server, fault(t, err).Class)
				assert.Equal(t, failures+1, tries, name)
				assert.Less(t, time.Since(begun), time.Second)
				if failures == 0 {
					assert.Zero(t, time.Since(begun))
				}
			})
		}
	}
}

// TestPauses: pauses grow from about 10 ms to about half a second, and are random.
func TestPauses(t *testing.T) {
	for name, seed := range map[string]uint64{"the shortest": 0, "others": 0x1234_5678_9abc_def0, "the last seed": 1<<64 - 1} {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Time
			settle := func(context.Context) error {
				at = append(at, time.Now())
				return errTape
			}
			r := newRig(t, "ant", func(cfg *router.Config) {
				cfg.Ledger, cfg.Seed = &slowBooks{memory.New().Ledger, settle}, func() uint64 { return seed }
			}, fee(cent))
			_, err := r.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
			require.ErrorIs(t, err, errTape)
			want := 10 * time.Millisecond
			for i := range at[1:] {
				pause := at[i+1].Sub(at[i])
				assert.GreaterOrEqual(t, pause, want/2, name)
				assert.Less(t, pause, want*3/2, name)
				want = min(2*want, 500*time.Millisecond)
			}
			assert.Greater(t, len(at), 15, name)
			assert.Less(t, len(at), 50, name)
			assert.Equal(t, at[0].Add(settleTime), time.Now(), name)
		})
	}
}

// TestTheLastTryTellsWhy: when the time is up during an attempt, the error is that
// of the attempt before.
func TestTheLastTryTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		settle := func(ctx context.Context) error {
			if tries++; tries < 3 {
				return errTape
			}
			<-ctx.Done()
			return ctx.Err()
		}
		r := newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = &slowBooks{memory.New().Ledger, settle} }, fee(cent))
		_, err := r.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
		require.ErrorIs(t, err, errTape)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 3, tries)
	})
}

// TestALedgerThatIsSlowHoldsNoPlace: while an answer is charged, other calls get
// the endpoint's place.
func TestALedgerThatIsSlowHoldsNoPlace(t *testing.T) {
	t.Parallel()
	var r *rig
	meanwhile := 0
	settle := func(ctx context.Context) error {
		meanwhile++
		_, err := r.router.Decide(ctx, &router.Call{Request: decision(byPrice)})
		return err
	}
	one := func(e *router.Endpoint) { e.Limits.Concurrency = 1 }
	r = newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = &slowBooks{memory.New().Ledger, settle} }, fee(cent), one)
	_, err := r.router.Decide(t.Context(), &router.Call{Request: decision(byPrice), Principal: who()})
	require.NoError(t, err)
	assert.Equal(t, 1, meanwhile)
}
