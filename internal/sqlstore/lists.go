package sqlstore

import (
	"context"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// listsOf lists events that the roll-ups do not count yet, those of each account
// by themselves.
func listsOf(events []router.Event) (RowsStatement, error) {
	ids := map[string][]string{}
	for i := range events {
		account := events[i].Principal.Account
		ids[account] = append(ids[account], events[i].ID)
	}
	lists := RowsStatement{Text: addLists, Columns: listColumns(), Changed: -1}
	for _, account := range slices.Sorted(maps.Keys(ids)) {
		text, err := encoded(ids[account])
		if err != nil {
			return lists, err
		}
		lists.Rows = append(lists.Rows, []any{account, int64(len(ids[account])), text})
	}
	return lists, nil
}

// scanList reads a list, whose text is the last column, behind those of dest.
func scanList(rows Rows, dest ...any) (ids []string, err error) {
	var text string
	if err = rows.Scan(append(dest, &text)...); err != nil {
		return nil, err
	}
	return decoded[[]string](text)
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
