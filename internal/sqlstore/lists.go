package sqlstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// listsOf lists what the roll-ups do not count of events yet, that of each
// account by itself.
func listsOf(events []eventRow) RowsStatement {
	of := map[string][]*eventRow{}
	for i := range events {
		account := events[i].Account
		of[account] = append(of[account], &events[i])
	}
	lists := RowsStatement{Text: addLists, Columns: listColumns(), Changed: -1}
	for _, account := range slices.Sorted(maps.Keys(of)) {
		t := tallyOf(of[account])
		lists.Rows = append(lists.Rows, []any{account, t.events, t.String()})
	}
	return lists
}

// eventList is what a transaction has recorded of an account: sums, or the ids of
// events that an earlier version has listed, which are to be looked up.
type eventList struct {
	id, size int64
	account  string
	events   int64 // how many there really are
	sums     []eventRow
	ids      []string
}

func scanList(rows Rows) (l eventList, err error) {
	var text string
	if err = rows.Scan(&l.id, &l.size, &l.account, &text); err != nil {
		return l, err
	}
	if strings.HasPrefix(text, "[") {
		l.ids, err = decoded[[]string](text)
		l.events = int64(len(l.ids))
	} else {
		l.events, l.sums, err = tallied(text, l.account)
	}
	if err != nil {
		err = fmt.Errorf("list %d of new events: %w", l.id, err)
	}
	return l, err
}

// eventLists are several together.
type eventLists struct {
	lists  [][]any // their ids
	events int64
	sums   []eventRow
	ids    []string
}

func (all *eventLists) scan(rows Rows) error {
	l, err := scanList(rows)
	all.lists, all.events = append(all.lists, []any{l.id}), all.events+l.events
	all.sums, all.ids = append(all.sums, l.sums...), append(all.ids, l.ids...)
	return err
}

// each gives what is listed to add.
func (all *eventLists) each(ctx context.Context, db DB, tx Tx, add func(eventRow)) error {
	for i := range all.sums {
		add(all.sums[i])
	}
	return lookUpEvents(ctx, db, tx, all.ids, add)
}

// someLists are the ids of the oldest lists, as many as hold so many events.
func someLists(ctx context.Context, tx Tx, most int) (lists [][]any, err error) {
	events := 0
	err = query(ctx, tx, func(rows Rows) error {
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

// fewEvents are so few that no database would rather read all that it has.
const fewEvents = 1024

// lookUpEvents reads the events that have these ids.
func lookUpEvents(ctx context.Context, db DB, tx Tx, ids []string, each func(eventRow)) error {
	for some := range slices.Chunk(ids, fewEvents) {
		names := make([][]any, len(some))
		for i, id := range some {
			names[i] = []any{id}
		}
		err := queryRows(ctx, db, tx, func(rows Rows) error {
			var row eventRow
			err := rows.Scan(&row.ID, &row.Day, &row.Account, &row.Workspace, &row.Member, &row.KeyHash, &row.Model, &row.Permaslug,
				&row.Endpoint, &row.Provider, &row.Requests, &row.Prompt, &row.Completion, &row.Reasoning, &row.Cached, &row.Credit, &row.Total)
			if err == nil {
				each(row)
			}
			return err
		}, theEvents, idColumns(), names)
		if err != nil {
			return err
		}
	}
	return nil
}
