package memory

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// ledger is a book of lines and, beside it, tables of holds by their ids. Each
// table has a mutex of its own, because finding a hold among millions takes
// longer than the additions under the book's. A table's is locked first, then
// the book's or that of activity. Spending beyond the largest USD stays at the
// largest USD.
type ledger struct {
	book     book
	tables   [tables]table
	activity *activityStore
}

const tables = 16

// of returns the table of a hold. The last byte of an id is random, or counts.
func (l *ledger) of(id uuid.UUID) *table { return &l.tables[id[len(id)-1]%tables] }

func newLedger(activity *activityStore) *ledger {
	l := &ledger{book: book{lines: make(map[router.Line]*line)}, activity: activity}
	for i := range l.tables {
		l.tables[i].holds = make(map[uuid.UUID]*hold)
		l.tables[i].settled = make(map[uuid.UUID]router.Amount)
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
	if old, known := t.holds[h.ID]; known {
		return t.raise(&l.book, old, &h)
	}
	if _, known := t.settled[h.ID]; known {
		return router.ErrConflict
	}
	taken := t.fresh()
	if err := l.book.reserve(taken, &h); err != nil {
		t.spare = append(t.spare, taken)
		return err
	}
	taken.id, taken.amount, taken.deadline = h.ID, h.Amount, h.Deadline
	taken.remember(&h.Event)
	t.holds[h.ID] = taken
	t.open.push(taken)
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
	h, known := t.holds[id]
	if !known {
		if err := t.settleAgain(id, cost); err != nil {
			return err
		}
		l.activity.add(events...)
		return nil
	}
	l.book.settle(h, cost)
	switch {
	case h.state == open:
		t.open.remove(h)
		t.closed.push(h)
	case h.state == posted && h.event != nil:
		l.activity.add(h.event.Posted(h.amount).Corrected())
	}
	l.activity.add(events...)
	delete(t.holds, id)
	t.settled[id] = cost
	t.spare = append(t.spare, h)
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
	if h, known := t.holds[id]; known && h.state == open {
		t.close(&l.book, h, voided)
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
