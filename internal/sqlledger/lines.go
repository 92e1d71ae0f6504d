package sqlledger

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// knownLines is the number of line names to remember: about 10 MB.
const knownLines = 100_000

// lineIDs remembers the ids of lines, which never change. The zero value remembers
// none.
type lineIDs struct {
	mu    sync.RWMutex
	known map[router.Line]int64
}

// learn remembers committed ids.
func (l *lineIDs) learn(ids map[router.Line]int64) {
	if len(ids) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || len(l.known)+len(ids) > knownLines {
		l.known = make(map[router.Line]int64) // start again: the lines in use are learned again with the next batches
	}
	maps.Copy(l.known, ids)
}

// forget forgets all ids.
func (l *lineIDs) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = nil
}

// of sets the line ids of an operation and returns the lines whose ids are unknown.
func (l *lineIDs) of(o *operation) (unknown []router.Line) {
	o.lineOf = o.lineOf[:0]
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, line := range o.asked.Lines {
		id, ok := l.known[line]
		if !ok {
			unknown = append(unknown, line)
		}
		o.lineOf = append(o.lineOf, id)
	}
	return unknown
}

// nameLines sets the line ids of each operation and creates lines that are used for
// the first time. It returns the ids that were unknown.
func (l *Ledger) nameLines(ctx context.Context, tx sqldb.Tx, batch []*operation) (map[router.Line]int64, error) {
	var unknown []router.Line
	for _, o := range batch {
		if o.asked != nil {
			unknown = append(unknown, l.ids.of(o)...)
		}
	}
	if len(unknown) == 0 {
		return nil, nil //nolint:nilnil // nothing was learned
	}
	learned, err := lineIDsOf(ctx, l.db, tx, unknown)
	if err != nil {
		return nil, err
	}
	for _, o := range batch {
		if o.asked == nil {
			continue
		}
		for i, line := range o.asked.Lines {
			if id, ok := learned[line]; ok {
				o.lineOf[i] = id
			}
		}
	}
	return learned, nil
}

// lineIDsOf returns the ids of lines and creates the missing ones. All processes
// create lines in one order, so that they do not deadlock.
func lineIDsOf(ctx context.Context, db sqldb.DB, tx sqldb.Tx, names []router.Line) (map[router.Line]int64, error) {
	slices.SortFunc(names, func(a, b router.Line) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Window, b.Window))
	})
	names = slices.Compact(names)
	found := map[router.Line]int64{}
	for {
		if err := lookUp(ctx, db, tx, names, found); err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(names, func(line router.Line) bool { return found[line] != 0 })
		if len(names) == 0 {
			return found, nil
		}
		if err := sqldb.ExecRows(ctx, db, tx, addLines, lineColumns(), rowsOfLines(names)); err != nil {
			return nil, err
		}
	}
}

func lookUp(ctx context.Context, db sqldb.DB, tx sqldb.Tx, names []router.Line, found map[router.Line]int64) error {
	return sqldb.QueryRows(ctx, db, tx, func(rows sqldb.Rows) error {
		var line router.Line
		var id int64
		err := rows.Scan(&id, &line.Owner, &line.Window)
		found[line] = id
		return err
	}, findLines, lineColumns(), rowsOfLines(names))
}

func rowsOfLines(lines []router.Line) [][]any {
	rows := make([][]any, len(lines))
	for i, line := range lines {
		rows[i] = []any{int64(i), line.Owner, line.Window}
	}
	return rows
}
