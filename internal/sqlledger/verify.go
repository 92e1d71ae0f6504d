package sqlledger

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// mostDifferences bounds the list of differences. More than that would not be read.
const mostDifferences = 10_000

// Verify computes all sums from the events, the open holds and the payments of one
// snapshot, and returns where they differ from the stored sums. It changes nothing.
// Its memory grows with the open holds, the days of one owner and the events that are
// not folded yet, not with all events.
//
// It cannot check closed holds. It reports spending of callers without an account,
// because no event records it. A sum beyond the largest USD is an error of the
// database.
func Verify(ctx context.Context, db sqldb.DB, migrations fs.FS) (found store.Verified, err error) {
	err = db.Read(ctx, func(tx sqldb.Tx) error {
		if err := sqldb.CheckTx(ctx, db, tx, migrations); err != nil {
			return err
		}
		v := &verifier{db: db}
		err := v.verify(ctx, tx)
		found = v.found
		return err
	})
	return found, err
}

// verifier is one run.
type verifier struct {
	db      sqldb.DB
	found   store.Verified
	windows map[string][router.Daily + 1]string // by day with events
	held    map[int64]router.Amount             // by open holds, by line id
	listed  listed
	pruned  string // the horizon: the first day that is kept
}

func (v *verifier) verify(ctx context.Context, tx sqldb.Tx) error {
	for _, check := range []func(context.Context, sqldb.Tx) error{v.horizon, v.days, v.lists, v.byKey, v.byAccount, v.openHolds, v.lines, v.credits} {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// differ adds a difference.
func (v *verifier) differ(what, where, stored, computed string) {
	if len(v.found.Differences) < mostDifferences {
		v.found.Differences = append(v.found.Differences, store.Difference{What: what, Where: where, Stored: stored, Computed: computed})
	}
}

// days checks that events are stored under the day of their instant, and computes the
// windows of each day.
func (v *verifier) days(ctx context.Context, tx sqldb.Tx) error {
	v.windows = map[string][router.Daily + 1]string{}
	return sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		var day string
		var events int
		var first, last int64
		if err := rows.Scan(&day, &events, &first, &last); err != nil {
			return err
		}
		v.found.Events += events
		for _, at := range []int64{first, last} { // events between them are of the same day
			if really := router.Daily.Window(sqldb.Instant(at)); really != day {
				v.differ("day", fmt.Sprintf("events admitted=%d", at), day, really)
				break
			}
		}
		v.windows[day] = windowsOf(day, sqldb.Instant(first))
		return nil
	}, `SELECT day, count(*), min(admitted), max(admitted) FROM {events} GROUP BY day ORDER BY day`)
}

// openHolds adds up what open holds occupy on each line.
func (v *verifier) openHolds(ctx context.Context, tx sqldb.Tx) error {
	v.held = map[int64]router.Amount{}
	return sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		h, err := scanHold(rows)
		if err != nil {
			return err
		}
		v.found.OpenHolds++
		for _, line := range h.lines {
			v.held[line] = plus(v.held[line], h.amount)
		}
		return nil
	}, `SELECT id, state, lines, credit, total, deadline, event FROM {holds} WHERE state = 0`)
}

// horizon reads the first day that is kept.
func (v *verifier) horizon(ctx context.Context, tx sqldb.Tx) (err error) {
	v.pruned, err = sqldb.One(ctx, tx, nil, sqldb.ScanText, theHorizon)
	return err
}
