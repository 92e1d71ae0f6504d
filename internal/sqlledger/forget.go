package sqlledger

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// remembered is how long a closed hold stays after its deadline.
const remembered = 24 * time.Hour

// lap is the position of this process in its walk over all holds. The zero value is
// the beginning.
type lap struct {
	mu    sync.Mutex
	after string // the id of the last hold that was visited
}

func (l *lap) place() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after
}

func (l *lap) move(after string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.after = after
}

// forget drops holds that were closed long ago. It visits holds by their ids and
// starts at the front, because the router's ids ascend in time.
//
// With other ids, or with many holds that stay open for days, all holds at the front
// may have to stay. Therefore each process also walks over the rest: every call
// visits at least limit holds and the walk starts again at the end. A walk over n
// holds takes at most n/limit calls.
func (l *Ledger) forget(ctx context.Context, now time.Time, limit int) error {
	before := sqldb.Micros(now.Add(-remembered))
	front, err := l.forgetFrom(ctx, "", before, limit)
	if err != nil || front == "" {
		return err
	}
	after, err := l.forgetFrom(ctx, max(front, l.lap.place()), before, limit)
	l.lap.move(after) // also after an error: the walk got this far
	return err
}

// forgetFrom visits holds after an id until limit of them had to stay. It returns
// the id of the last one, or "" at the end. The count starts again after every step
// in which at least half of the holds were dropped: a busy program creates more than
// limit holds between two calls, and the walk must not slow down as they add up. So
// the holds that stay too long are at most as many as those that must stay.
func (l *Ledger) forgetFrom(ctx context.Context, after string, before int64, limit int) (string, error) {
	for stay := 0; stay < limit; {
		p, err := l.forgetNext(ctx, after, before, limit)
		if err != nil {
			return after, err
		}
		if p.seen < limit {
			return "", nil
		}
		after = p.last
		if stay += p.seen - p.dropped; p.dropped >= p.seen-p.dropped {
			stay = 0
		}
	}
	return after, nil
}

// passed is the result of one step of the walk.
type passed struct {
	last          string // id of the last hold
	seen, dropped int
}

// forgetNext visits at most limit holds after an id and drops those that are closed
// and whose deadline is before an instant.
func (l *Ledger) forgetNext(ctx context.Context, after string, before int64, limit int) (p passed, err error) {
	err = l.db.Write(ctx, func(tx sqldb.Tx) error {
		p = passed{}
		var over int
		err := sqldb.Query(ctx, tx, func(rows sqldb.Rows) error { return rows.Scan(&p.last, &p.seen, &over) }, nextHolds, after, limit, before)
		if err != nil || over == 0 {
			return err
		}
		dropped, err := tx.Exec(ctx, forgetHolds, after, p.last, before)
		p.dropped = int(dropped)
		return err
	})
	return p, err
}
