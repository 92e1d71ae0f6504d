package proofs

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// action is what happens at one moment of a call: the start or the end of a request
// to the ledger or to an upstream.
type action string

const (
	hangsUp action = "hang-up"     // the caller ends the call
	late    action = "deadline"    // the moment lasts until the time of the call or of the attempt is over
	fails   action = "unavailable" // the request fails, with or without effect
	dies    action = "final"       // the request fails for good, with or without effect
)

// moments are those of a call. At the n-th something happens.
type moments struct {
	n      int // 0 is never
	what   action
	bubble bool // in a bubble of synctest
	hangUp func()

	mu   sync.Mutex
	seen int
	name string // of the n-th, "" while it has not come
}

var (
	errAway  = fmt.Errorf("away (%w)", router.ErrUnavailable)
	errFinal = fmt.Errorf("broken (%w)", router.ErrFinal)
)

func (m *moments) at(ctx context.Context, name string) error {
	m.mu.Lock()
	m.seen++
	is := m.seen == m.n
	if is {
		m.name = name
	}
	m.mu.Unlock()
	switch {
	case !is:
		return nil
	case m.what == hangsUp:
		m.hangUp()
	case m.what == late && !closes(name) && (!m.bubble || !asksLedger(name)):
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	case m.what == fails:
		return errAway
	case m.what == dies:
		return errFinal
	}
	return nil
}

// asksLedger reports whether the moment is of a request to the ledger. Legs of one call
// wait for each other's requests with a mutex, for which no bubble's time advances.
func asksLedger(name string) bool {
	return strings.HasPrefix(name, "reserve") || strings.HasPrefix(name, "balances") || strings.HasPrefix(name, "claim")
}

// closes reports whether the moment is of a request that is not bound to the call's
// time, because it closes a hold or a claim.
func closes(name string) bool {
	return strings.HasPrefix(name, "settle") || strings.HasPrefix(name, "void") || strings.HasPrefix(name, "keep") || strings.HasPrefix(name, "release")
}

// life is that of a process: it ends at its n-th change of the ledger, either before the
// change or before its result arrives. Zero never ends.
type life struct {
	changes atomic.Int64 // left
	after   bool
}

// mortal returns a life of n changes.
func mortal(n int64, after bool) *life {
	l := &life{after: after}
	l.changes.Store(n)
	return l
}

// change makes a change of the ledger, if the process lives.
func (l *life) change(do func() error) error {
	if l == nil {
		return do()
	}
	left := l.changes.Add(-1)
	if left > 0 || left == 0 && l.after {
		if err := do(); left > 0 {
			return err
		}
	}
	return errKilled
}

// account is what a ledger was asked, and confirmed: the amount of each hold, and what
// it was settled for.
type account struct {
	mu    sync.Mutex
	holds map[uuid.UUID]holding
}

type holding struct {
	amount  router.Amount
	settled bool
}

func (a *account) note(id uuid.UUID, amount router.Amount, settled bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.holds[id]
	if !h.settled { // a repetition changes nothing
		a.holds[id] = holding{amount, settled}
	}
}

// sum returns what is spent when all open holds have been charged, and how many are
// open.
func (a *account) sum() (spent router.Amount, open int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.holds {
		spent.Credit += h.amount.Credit
		spent.Total += h.amount.Total
		if !h.settled {
			open++
		}
	}
	return spent, open
}

// eventful is the ledger of a process, whose requests are moments of the calls that
// make them.
type eventful struct {
	router.Ledger
	router.Recorder
	router.Replies

	life    *life // nil does not end
	account *account
}

func newEventful(t *testing.T, of router.Ledger, until *life) eventful {
	t.Helper()
	recorder, _ := of.(router.Recorder)
	replies, ok := of.(router.Replies)
	require.True(t, ok)
	return eventful{of, recorder, replies, until, &account{holds: map[uuid.UUID]holding{}}}
}

// moment makes a request between two moments. An error at the first means that the
// request has no effect, at the second that its result is lost.
func (l eventful) moment(ctx context.Context, name string, request func() error) error {
	t, ok := ctx.Value(taleKey{}).(*tale)
	if !ok {
		return request()
	}
	if err := t.moments.at(ctx, name+" begins"); err != nil {
		return err
	}
	err := l.life.change(request)
	return cmp.Or(t.moments.at(ctx, name+" ends"), err)
}

// closing is moment of a request that closes a hold at a cost.
func (l eventful) closing(ctx context.Context, name string, id uuid.UUID, cost router.Amount, request func() error) error {
	return l.moment(ctx, name, func() error {
		err := request()
		if err == nil {
			l.account.note(id, cost, true)
		}
		return err
	})
}

func (l eventful) Reserve(ctx context.Context, h router.Hold) error {
	return l.moment(ctx, "reserve", func() error {
		err := l.Ledger.Reserve(ctx, h)
		if err == nil {
			l.account.note(h.ID, h.Amount, false)
		}
		return err
	})
}

func (l eventful) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return l.closing(ctx, "settle", id, cost, func() error { return l.Ledger.Settle(ctx, id, cost) })
}

func (l eventful) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	return l.closing(ctx, "settle", id, cost, func() error { return l.Recorder.SettleWith(ctx, id, cost, events) })
}

func (l eventful) SettleKept(ctx context.Context, k router.Kept, cost router.Amount, events []router.Event) error {
	return l.closing(ctx, "settle", k.Hold, cost, func() error { return l.Replies.SettleKept(ctx, k, cost, events) })
}

func (l eventful) Void(ctx context.Context, id uuid.UUID) error {
	return l.closing(ctx, "void", id, router.Amount{}, func() error { return l.Ledger.Void(ctx, id) })
}

func (l eventful) Balances(ctx context.Context, lines []router.Line) (list []router.Balance, err error) {
	err = l.moment(ctx, "balances", func() error {
		list, err = l.Ledger.Balances(ctx, lines)
		return err
	})
	return list, err
}

func (l eventful) Claim(ctx context.Context, c router.Claim) (got router.Claimed, err error) {
	err = l.moment(ctx, "claim", func() error {
		got, err = l.Replies.Claim(ctx, c)
		return err
	})
	return got, err
}

func (l eventful) Keep(ctx context.Context, k router.Kept) error {
	return l.moment(ctx, "keep", func() error { return l.Replies.Keep(ctx, k) })
}

func (l eventful) Release(ctx context.Context, of router.ReplyKey, hold uuid.UUID) error {
	return l.moment(ctx, "release", func() error { return l.Replies.Release(ctx, of, hold) })
}
