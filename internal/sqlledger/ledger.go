package sqlledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// batchTime bounds a transaction. It belongs to the batch: a caller that stops
// waiting does not cancel the work of the others.
const batchTime = 10 * time.Second

var (
	errHold = fmt.Errorf("sqlledger: a hold needs at least one line, no line twice, and 0 <= credit <= total (%w)",
		router.ErrFinal)
	errBeyond = errors.New("sqlledger: the sum held on a line would exceed the largest USD")
)

var (
	_ router.Ledger   = (*Ledger)(nil)
	_ router.Recorder = (*Ledger)(nil)
)

// Ledger implements [router.Ledger], with its optional interfaces, in SQL. Spending
// that would pass the largest USD stays at the largest USD.
type Ledger struct {
	db       sqldb.DB
	ids      lineIDs
	known    known
	group    group
	lap      lap
	activity *Activity
}

// NewLedger returns the ledger in db. It records events to activity, which must be
// in the same db.
func NewLedger(db sqldb.DB, activity *Activity) *Ledger {
	l := &Ledger{db: db, activity: activity}
	l.group.run, l.group.width = l.runBatch, db.Writers()
	return l
}

// operation is one call of a method that writes.
type operation struct {
	id     uuid.UUID
	whole  uuid.UUID    // the hold to split, or zero
	asked  *router.Hold // of Reserve, else nil
	kept   *router.Kept // of SettleKept, else nil
	apply  func(b *books, o *operation) error
	fast   func(s *fastPath, o *operation) bool // adds it to the fast path, or returns false; nil is false
	lineOf []int64                              // the ids of asked.Lines
	unsure bool                                 // a transaction of unknown outcome may have applied it
	err    error

	lead chan []*operation // receives a batch that this operation's caller must run
	done chan struct{}     // closed when err is set
}

// Reserve implements [router.Ledger].
func (l *Ledger) Reserve(ctx context.Context, h router.Hold) error {
	if len(h.Lines) == 0 || h.Amount.Credit < 0 || h.Amount.Credit > h.Amount.Total || alike(h.Lines) {
		return errHold
	}
	if !keepsHold(&h) {
		return errText
	}
	h.Deadline = after(h.Deadline)
	return l.group.submit(ctx, &operation{
		id: h.ID, asked: &h, fast: (*fastPath).reserve,
		apply: func(b *books, o *operation) error { return b.reserve(o.asked, o.lineOf) },
	})
}

// after rounds t up to the microsecond, the unit in which instants are stored.
func after(t time.Time) time.Time { return t.Add(time.Microsecond - 1).Truncate(time.Microsecond) }

// alike reports whether two of a few lines are equal.
func alike(lines []router.Line) bool {
	for i, line := range lines {
		if slices.Contains(lines[:i], line) {
			return true
		}
	}
	return false
}

// Settle implements [router.Ledger].
func (l *Ledger) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return l.SettleWith(ctx, id, cost, nil)
}

// SettleWith implements [router.Recorder].
func (l *Ledger) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	if !keepsEvents(events) {
		return errText
	}
	return l.record(ctx, len(events), &operation{
		id:    id,
		apply: func(b *books, _ *operation) error { return b.settle(id, cost, events) },
		fast:  func(s *fastPath, _ *operation) bool { return s.settle(id, settled, cost, events) },
	})
}

// record carries out an operation that records events.
func (l *Ledger) record(ctx context.Context, events int, o *operation) error {
	err := l.group.submit(ctx, o)
	if err == nil {
		l.activity.recorded(ctx, events)
	}
	return err
}

// RecordsTo implements [router.Recorder].
func (l *Ledger) RecordsTo(store any) bool { return store == any(l.activity) }

// Void implements [router.Ledger].
func (l *Ledger) Void(ctx context.Context, id uuid.UUID) error {
	return l.group.submit(ctx, &operation{
		id: id,
		apply: func(b *books, _ *operation) error {
			b.void(id)
			return nil
		},
		fast: func(s *fastPath, _ *operation) bool { return s.settle(id, voided, router.Amount{}, nil) },
	})
}

// runBatch carries out a batch and sets the err of each operation.
func (l *Ledger) runBatch(batch []*operation) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTime) // see batchTime
	defer cancel()
	if rest := l.runFast(ctx, batch); len(rest) > 0 {
		l.bisect(ctx, rest)
	}
}

// bisect carries a batch out and sets the err of each operation. When the whole
// transaction fails, it tries both halves, so that an operation that the database
// refuses fails alone. It does not bisect when the database cannot be reached.
func (l *Ledger) bisect(ctx context.Context, batch []*operation) {
	err := l.carryOut(ctx, batch)
	if err != nil && ctx.Err() != nil { // the batch ran out of time, not its callers
		err = sqldb.Unavailable(ctx, err)
	}
	switch half := len(batch) / 2; {
	case err == nil:
	case half == 0 || ctx.Err() != nil || errors.Is(err, sqldb.ErrAway):
		for _, o := range batch {
			o.err = err
		}
	default:
		l.bisect(ctx, batch[:half])
		l.bisect(ctx, batch[half:])
	}
}

// Expire implements [router.Ledger]. It forgets old holds first, so that a hold that
// is closed long after its deadline can still be settled until the next Expire.
func (l *Ledger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (int, error) {
	var due []string
	now = after(now)
	failed := cmp.Or(l.forget(ctx, now, limit), l.forgetReplies(ctx, now, limit))
	if errors.Is(failed, sqldb.ErrUnknown) {
		failed = nil // the next Expire drops what is left
	}
	err := l.db.ReadOne(ctx, func(tx sqldb.Tx) (err error) {
		due, err = sqldb.List(ctx, tx, sqldb.ScanText, dueHolds, sqldb.Micros(now), max(limit, 0))
		return err
	})
	if err != nil {
		return 0, err
	}
	closed := 0
	for part := range slices.Chunk(due, maxBatch) { // a part that fails does not stop the others
		n, err := l.expire(ctx, part, now, policy)
		closed, failed = closed+n, cmp.Or(failed, err)
	}
	l.activity.unfolded.Store(0)
	return closed, cmp.Or(failed, l.activity.fold(ctx, foldMost))
}

func (l *Ledger) expire(ctx context.Context, due []string, now time.Time, policy router.Expiry) (int, error) {
	expired := make([]bool, len(due)) // set by any run, also by one whose outcome was unknown
	batch := make([]*operation, len(due))
	for i, text := range due {
		id, err := uuid.Parse(text)
		if err != nil {
			return 0, err
		}
		batch[i] = &operation{id: id, apply: func(b *books, o *operation) error {
			expired[i] = b.expire(id, now, policy) || o.unsure && b.expired(id, policy)
			return nil
		}}
	}
	l.bisect(ctx, batch)
	n := 0
	var failed error
	for i, o := range batch {
		failed = cmp.Or(failed, o.err)
		if o.err == nil && expired[i] {
			n++
		}
	}
	return n, failed
}

// Balances implements [router.Ledger].
func (l *Ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	var found []router.Balance
	err := l.db.ReadOne(ctx, func(tx sqldb.Tx) error {
		found = make([]router.Balance, len(lines))
		return sqldb.QueryRows(ctx, l.db, tx, func(rows sqldb.Rows) error {
			var at int
			var b router.Balance
			err := rows.Scan(&at, &b.Spent.Credit, &b.Spent.Total, &b.Held.Credit, &b.Held.Total)
			found[at] = b
			return err
		}, balances, lineColumns(), rowsOfLines(lines))
	})
	return found, err
}
