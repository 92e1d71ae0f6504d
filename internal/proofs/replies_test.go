package proofs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/systemone"
)

// once makes a call with an idempotency key, and returns it.
func (g *gateway) once(key string) (*router.Call, error) {
	c := &router.Call{
		Principal: g.who(), Idempotency: &router.Idempotency{Key: key},
		Request: &systemone.Request{
			Model: routertest.Model, State: systemone.Text("x"),
			Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: systemone.Text("?")}},
		},
	}
	_, err := g.router.Decide(g.t.Context(), c)
	return c, err
}

// Two programs get one request eight times at once. One call goes upstream and is
// charged, and all get its reply.
func TestRivalsWithOneKeyAreChargedOnce(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		w := &world{engine: e, t: t, account: "acme"}
		one, other := w.gateway(e.one, fee(cent), fee(cent)), w.gateway(e.other, fee(cent), fee(cent))
		for round := range 5 {
			ids := make([]string, 8)
			var all sync.WaitGroup
			for i := range ids {
				g := []*gateway{one, other}[i%2]
				all.Go(func() {
					c, err := g.once(fmt.Sprintf("key-%d", round))
					assert.NoError(t, err)
					ids[i] = c.ID
				})
			}
			all.Wait()
			for _, id := range ids {
				assert.Equal(t, ids[0], id)
			}
			w.spent(router.USD(round+1) * cent)
		}
	})
}

// killed is the storage of a process that dies at its n-th change: either before the
// change, or after the change and before its result arrives.
type killed struct {
	router.Ledger
	router.Recorder
	router.Replies

	left  int
	after bool
}

var errKilled = fmt.Errorf("killed (%w)", router.ErrFinal)

func (k *killed) does(change func() error) error {
	k.left--
	switch {
	case k.left > 0:
		return change()
	case k.left == 0 && k.after:
		return errors.Join(errKilled, change())
	}
	return errKilled
}

func (k *killed) Claim(ctx context.Context, c router.Claim) (got router.Claimed, err error) {
	err = k.does(func() error {
		got, err = k.Replies.Claim(ctx, c)
		return err
	})
	return got, err
}

func (k *killed) Reserve(ctx context.Context, h router.Hold) error {
	return k.does(func() error { return k.Ledger.Reserve(ctx, h) })
}

func (k *killed) SettleKept(ctx context.Context, r router.Kept, cost router.Amount, events []router.Event) error {
	return k.does(func() error { return k.Replies.SettleKept(ctx, r, cost, events) })
}

func (k *killed) Void(ctx context.Context, id uuid.UUID) error {
	return k.does(func() error { return k.Ledger.Void(ctx, id) })
}

func (k *killed) Release(ctx context.Context, of router.ReplyKey, hold uuid.UUID) error {
	return k.does(func() error { return k.Replies.Release(ctx, of, hold) })
}

// A process is killed at each of its changes. When its claim has ended the request is
// retried at another process, before or after expiry has charged the hold of the dead
// one. One call is charged.
func TestAKilledCallAndItsRetryAreChargedOnce(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		spent := router.USD(0)
		w := &world{engine: e, t: t, account: "acme"}
		for n := range 4 {
			for i, after := range []bool{false, true} {
				for j, expires := range []bool{false, true} {
					key := fmt.Sprintf("%d-%d-%d", n, i, j)
					recorder, _ := e.one.Ledger.(router.Recorder)
					replies, ok := e.one.Ledger.(router.Replies)
					require.True(t, ok)
					dying := w.gateway(store.Set{Ledger: &killed{e.one.Ledger, recorder, replies, n + 1, after}}, fee(cent), fee(cent))
					_, err := dying.once(key)
					assert.Equal(t, n < 3, err != nil, key)
					w.clock.Add(2)
					if expires {
						_, err := e.other.Ledger.Expire(t.Context(), w.now().Add(time.Second), 10, router.ExpirePost)
						require.NoError(t, err)
					}
					heir := w.gateway(e.other, fee(cent), fee(cent))
					for range 2 {
						_, err = heir.once(key)
						require.NoError(t, err, key)
					}
					spent += cent
					w.spent(spent)
				}
			}
		}
	})
}
