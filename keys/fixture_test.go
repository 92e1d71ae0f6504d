package keys_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

const (
	home  = "0190f5a0-0000-7000-8000-000000000001"
	other = "0190f5a0-0000-7000-8000-000000000002"
)

// clock is a clock that stands still until it is moved.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.set(at)
	return c
}

func (c *clock) now() time.Time        { return *c.at.Load() }
func (c *clock) set(at time.Time)      { c.at.Store(&at) }
func (c *clock) after(d time.Duration) { c.set(c.now().Add(d)) }

// town is a directory: acme is an organization with the admin ann and the
// member bob, solo is hers alone. Both have the workspaces home and other.
type town struct{ err error }

func (d town) Membership(_ context.Context, account, user string) (keys.Membership, error) {
	switch account {
	case "acme":
		return keys.Membership{Organization: true, Member: user == "ann" || user == "bob", Admin: user == "ann"}, d.err
	case "solo":
		return keys.Membership{Member: user == "ann", Admin: user == "ann"}, d.err
	}
	return keys.Membership{}, d.err
}

func (d town) Workspace(_ context.Context, account, id string) (string, error) {
	switch {
	case d.err != nil:
		return "", d.err
	case account != "acme" && account != "solo":
		return "", keys.ErrNotFound
	case id == "":
		return home, nil
	case id == home, id == other && account == "acme":
		return id, nil
	}
	return "", keys.ErrNotFound
}

// flaky is a store that counts reads and can be made to fail or to wait.
type flaky struct {
	keys.Store

	asked atomic.Int32
	mu    sync.Mutex
	err   error
	hold  chan struct{} // a read waits for it
	boom  bool
}

func (s *flaky) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *flaky) Get(ctx context.Context, hash string) (keys.Key, error) {
	s.asked.Add(1)
	s.mu.Lock()
	err, hold, boom := s.err, s.hold, s.boom
	s.mu.Unlock()
	if boom {
		panic("store")
	}
	if err != nil {
		return keys.Key{}, err
	}
	k, err := s.Store.Get(ctx, hash)
	if hold != nil { // the key may have changed when it returns
		<-hold
		if ctx.Err() != nil {
			return keys.Key{}, ctx.Err()
		}
	}
	return k, err
}

var errDown = errors.New("the store is down")

// bench is a service with everything around it.
type bench struct {
	*keys.Service

	clock *clock
	set   store.Set
	store *flaky
	admin router.Actor // acts with a management key of acme
	solo  router.Actor // with one of the personal account
}

func newBench(tb testing.TB, options ...func(*keys.Config)) *bench {
	tb.Helper()
	b := &bench{clock: newClock(noon), set: memory.New()}
	b.store = &flaky{Store: b.set.Keys}
	cfg := keys.Config{Store: b.store, Ledger: b.set.Ledger, Directory: town{}, Now: b.clock.now}
	for _, o := range options {
		o(&cfg)
	}
	var err error
	b.Service, err = keys.New(cfg)
	require.NoError(tb, err)
	for account, to := range map[string]*router.Actor{"acme": &b.admin, "solo": &b.solo} {
		r, _, err := b.Create(tb.Context(), router.Actor{}, keys.Key{Name: "m", Account: account, Creator: "ann", Management: true})
		require.NoError(tb, err)
		*to = router.Actor{Principal: router.Principal{Account: account, KeyHash: r.Hash, Member: "ann", Management: true}, RequestID: "r1"}
	}
	return b
}

func (b *bench) key(tb testing.TB, k keys.Key) (keys.Record, router.Secret) {
	tb.Helper()
	if k.Name == "" {
		k.Name = "x"
	}
	r, secret, err := b.Create(tb.Context(), b.admin, k)
	require.NoError(tb, err)
	return r, secret
}

// spend books a cost as the engine does, in all windows of the instant.
func (b *bench) spend(tb testing.TB, hash string, cost router.Amount) {
	tb.Helper()
	h := router.Hold{ID: uuid.New(), Deadline: b.clock.now().Add(time.Minute)}
	for i := range router.Daily + 1 {
		h.Lines = append(h.Lines, router.OwnerKey.Line(router.Principal{KeyHash: hash}, i.Window(b.clock.now())))
	}
	require.NoError(tb, b.set.Ledger.Reserve(tb.Context(), h))
	require.NoError(tb, b.set.Ledger.Settle(tb.Context(), h.ID, cost))
}

func usd(cents int64) router.USD { return router.USD(cents) * router.Dollar / 100 }
