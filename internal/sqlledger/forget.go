package sqlledger

import (
	"context"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// remembered is how long a closed hold is known after its deadline.
const remembered = 24 * time.Hour

// lap is how far a process has looked for holds to forget. The zero value is at
// the front.
type lap struct {
	mu    sync.Mutex
	after string // the id of the last hold that it looked at
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

// forget drops closed holds that nobody may ask for any more. It looks at holds in
// the order of their ids: first from the front, because the router's ids come in
// the order in which they are made.
//
// With ids in any other order, or many holds that are open for days, the front may
// be all holds that stay. So each process goes through the others as well, at
// least limit of them in a call, and begins again at the end: n holds are a lap of
// n/limit calls, or fewer.
func (l *Ledger) forget(ctx context.Context, now time.Time, limit int) error {
	before := sqldb.Micros(now.Add(-remembered))
	front, err := l.forgetFrom(ctx, "", before, limit)
	if err != nil || front == "" {
		return err
	}
	after, err := l.forgetFrom(ctx, max(front, l.lap.place()), before, limit)
	l.lap.move(after) // also when it failed: this is how far it came
	return err
}

// forgetFrom goes from hold to hold, after an id, until it has passed limit that
// stay. It returns the last one's id, or "" at the end. These are counted from where
// half of the holds were over: a busy program makes more between two calls than
// limit, and without that a lap could take longer the more there are. So it looks at
// a few for each that it drops, and what is kept too long comes to no more than what
// has to be kept.
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

// passed is what a look at the next holds came to.
type passed struct {
	last          string // id
	seen, dropped int
}

// forgetNext looks at the next holds after an id, at most limit, and drops those
// that are closed and whose deadline is before an instant.
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
