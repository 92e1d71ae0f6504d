package sqlledger

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// listsOf returns the statement that appends events to the lists that the roll-ups
// do not count yet: one list for each account.
func listsOf(events []eventRow) sqldb.RowsStatement {
	of := map[string][]*eventRow{}
	for i := range events {
		account := events[i].Account
		of[account] = append(of[account], &events[i])
	}
	lists := sqldb.RowsStatement{Text: addLists, Columns: listColumns(), Changed: -1}
	for _, account := range slices.Sorted(maps.Keys(of)) {
		t := tallyOf(of[account])
		lists.Rows = append(lists.Rows, []any{account, t.events, t.String()})
	}
	return lists
}

// eventList is a list: the sums of what one transaction recorded for one account.
type eventList struct {
	id, size int64
	events   int64 // counted in the sums; size is the stored count
	sums     []eventRow
}

func scanList(rows sqldb.Rows) (l eventList, err error) {
	var account, text string
	if err = rows.Scan(&l.id, &l.size, &account, &text); err != nil {
		return l, err
	}
	if l.events, l.sums, err = tallied(text, account); err != nil {
		err = fmt.Errorf("list %d of new events: %w", l.id, err)
	}
	return l, err
}

// eventLists collects several lists.
type eventLists struct {
	lists  [][]any // ids, as rows
	events int64
	sums   []eventRow
}

func (all *eventLists) scan(rows sqldb.Rows) error {
	l, err := scanList(rows)
	all.lists, all.events = append(all.lists, []any{l.id}), all.events+l.events
	all.sums = append(all.sums, l.sums...)
	return err
}

// someLists returns the ids of the oldest lists, enough of them for most events.
func someLists(ctx context.Context, tx sqldb.Tx, most int) (lists [][]any, err error) {
	events := 0
	err = sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		var id int64
		var size int
		err := rows.Scan(&id, &size)
		if events < most {
			lists = append(lists, []any{id})
		}
		events += size
		return err
	}, oldLists, most)
	return lists, err
}
