package memory

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// ledger is a book of lines and sharded tables of holds. Each table has its own mutex,
// because finding a hold among millions takes longer than the additions under the book's
// mutex. Locks are taken in the order table, activity, book. Spending beyond the largest
// USD stays at the largest USD.
type ledger struct {
	book     book
	tables   [tables]table
	activity *activityStore
	replies  replies
}

const tables = 64

// of returns the table of a hold. The last byte of an ID is random, or counts up.
func (l *ledger) of(id uuid.UUID) *table { return &l.tables[id[len(id)-1]%tables] }

func newLedger(activity *activityStore) *ledger {
	l := &ledger{book: book{names: names{owners: make(map[string]windows)}}, activity: activity, replies: replies{callers: map[apiKey]*claims{}}}
	for i := range l.tables {
		l.tables[i].records.index = make(map[uuid.UUID]uint32)
	}
	return l
}

var (
	_ router.Ledger   = (*ledger)(nil)
	_ router.Recorder = (*ledger)(nil)
)

func (l *ledger) Reserve(ctx context.Context, h router.Hold) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(h.Lines) == 0 || h.Amount.Credit < 0 || h.Amount.Credit > h.Amount.Total {
		return errHold
	}
	t := l.of(h.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(maxForgotten)
	if r := t.records.find(h.ID); r != nil {
		if r.slot == noSlot {
			return router.ErrConflict
		}
		return t.raise(&l.book, t.holds[r.slot], &h)
	}
	taken := t.fresh()
	if err := l.book.reserve(taken, &h); err != nil {
		t.free(taken)
		return err
	}
	t.take(taken, &h)
	return nil
}

func (l *ledger) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return l.SettleWith(ctx, id, cost, nil)
}

func (l *ledger) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := l.of(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	return l.settle(t, id, cost, events)
}

// settle settles a hold of a table, which the caller has locked.
func (l *ledger) settle(t *table, id uuid.UUID, cost router.Amount, events []router.Event) error {
	r := t.records.find(id)
	switch {
	case r == nil:
		return router.ErrNoHold
	case r.slot == noSlot && r.cost != cost:
		return router.ErrConflict
	case r.slot != noSlot:
		t.settle(&l.book, l.activity, t.holds[r.slot], cost, events)
	default: // settled before
		l.activity.add(events...)
	}
	return nil
}

func (l *ledger) RecordsTo(store any) bool { return store == any(l.activity) }

func (l *ledger) Void(ctx context.Context, id uuid.UUID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := l.of(id)
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.records.find(id)
	if r == nil || r.slot == noSlot {
		return nil
	}
	switch h := t.holds[r.slot]; h.state {
	case open:
		t.close(&l.book, h, voided)
	case posted:
		l.activity.takeBack(&l.book, h)
		h.state = voided
	case voided:
	}
	return nil
}

func (l *ledger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	to := posted
	if policy == router.ExpireVoid {
		to = voided
	}
	l.replies.forget(now, limit)
	n := 0
	for i := range l.tables {
		n += l.tables[i].expire(&l.book, l.activity, now, limit-n, to)
	}
	return n, nil
}

func (l *ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.book.balances(lines), nil
}
