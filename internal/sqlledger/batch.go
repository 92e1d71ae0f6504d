package sqlledger

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// errLost reports a line that is missing because it was pruned or the database was
// restored. The next attempt looks its name up again.
var errLost = errors.New("sqlledger: a line is missing: it was pruned or the database was restored")

// carryOut runs a batch in one transaction and sets each operation's err. It returns
// an error only when the whole transaction failed. Every operation is idempotent by
// the ID of its hold, so a batch with an unknown outcome is run again.
func (l *Ledger) carryOut(ctx context.Context, batch []*operation) error {
	for careful := false; ; {
		run := &attempt{Ledger: l, batch: batch, careful: careful}
		err := l.db.Write(ctx, func(tx sqldb.Tx) error { return run.do(ctx, tx) })
		switch {
		case err == nil:
			l.ids.learn(run.learned)
			l.known.learn(&run.books, batch)
			return nil
		case (errors.Is(err, sqldb.ErrChanged) || errors.Is(err, errLost)) && !careful:
			careful = true
		case ctx.Err() != nil || !errors.Is(err, sqldb.ErrChanged) && !errors.Is(err, sqldb.ErrUnknown):
			return err
		}
		for _, o := range batch {
			o.unsure = o.unsure || errors.Is(err, sqldb.ErrUnknown)
		}
	}
}

// attempt is one try of a batch. The first try assumes that no event was recorded
// before and that no other process creates the same hold. Where the assumption is
// wrong, a statement changes fewer rows than it must, and the second try is careful:
// it asks the database which events are new.
type attempt struct {
	*Ledger
	books

	batch   []*operation
	careful bool
	learned map[router.Line]int64 // ids of lines that were looked up in this attempt
}

// do loads the rows that the batch touches, applies the operations and writes the
// rows that changed.
func (a *attempt) do(ctx context.Context, tx sqldb.Tx) (err error) {
	a.books = books{lines: map[int64]*account{}, holds: map[uuid.UUID]*hold{}, claims: map[router.ReplyKey]uuid.UUID{}}
	if a.learned, err = a.nameLines(ctx, tx, a.batch); err != nil {
		return err
	}
	if err := a.load(ctx, tx); err != nil {
		return err
	}
	for _, o := range a.batch {
		o.err = o.apply(&a.books, o)
	}
	statements, err := a.saved()
	if err != nil {
		return err
	}
	if !a.careful {
		return a.db.RunRows(ctx, tx, append(statements, a.activity.statements(a.events)...)...)
	}
	if err := a.db.RunRows(ctx, tx, statements...); err != nil {
		return err
	}
	return a.activity.record(ctx, tx, a.events)
}

// load locks and reads the replies, the holds and the lines of the batch. All
// transactions lock in one order, so that none deadlock: existing holds by their
// ids, then lines from the highest id to the lowest. The fast path locks in the same
// order.
//
// Holds are read after the lines are locked. A concurrent transaction that creates
// the same hold also locks its lines, so its hold is visible here. Otherwise a hold
// could be refused for lack of the room that it occupies itself. The lines of holds
// that other processes created are looked up before, without a lock, because they
// never change.
func (a *attempt) load(ctx context.Context, tx sqldb.Tx) error {
	touched := map[int64]bool{}
	ids := make([][]any, 0, len(a.batch))
	var old, foreign [][]any
	add := func(id uuid.UUID, fresh bool) {
		row := []any{id.String()}
		ids = append(ids, row)
		known, _ := a.known.of(id)
		if known.lines != nil || !fresh {
			old = append(old, row)
		}
		if known.lines == nil && !fresh {
			foreign = append(foreign, row)
		}
		for _, line := range known.lines {
			touched[line] = true
		}
	}
	wholes := map[uuid.UUID]bool{{}: true}
	for _, o := range a.batch {
		add(o.id, o.asked != nil)
		if !wholes[o.whole] { // many operations may split the same hold
			wholes[o.whole] = true
			add(o.whole, false)
		}
		for _, id := range o.lineOf {
			touched[id] = true
		}
	}
	if err := a.lookUpLines(ctx, tx, touched, foreign); err != nil {
		return err
	}
	err := a.db.RunRows(ctx, tx,
		a.loadingReplies(),
		sqldb.RowsStatement{Text: lockHolds, Columns: idColumns(), Rows: old, Scan: func(sqldb.Rows) error { return nil }},
		a.loading(touched),
		sqldb.RowsStatement{Text: loadHolds, Columns: idColumns(), Rows: ids, Scan: func(rows sqldb.Rows) error {
			h, err := scanHold(rows)
			a.holds[h.id] = h
			return err
		}})
	if err != nil {
		return err
	}
	others := map[int64]bool{}
	for _, h := range a.holds {
		for _, id := range h.lines {
			if !touched[id] {
				touched[id], others[id] = true, true
			}
		}
	}
	if err := a.db.RunRows(ctx, tx, a.loading(others)); err != nil {
		return err
	}
	a.standIn()
	if len(a.lines) < len(touched) {
		a.ids.forget()
		a.known.forget()
		return errLost
	}
	return nil
}

// standIn replaces pruned lines by accounts that are not saved. Only lines of holds
// with nothing open on them are replaced. A line that the batch reserves on is never
// replaced: it must be created again.
func (a *attempt) standIn() {
	for _, h := range a.holds {
		if h.state == open && h.amount != (router.Amount{}) {
			continue
		}
		for _, id := range h.lines {
			if a.lines[id] == nil && !a.asksFor(id) {
				a.lines[id] = &account{gone: true}
			}
		}
	}
}

// asksFor reports whether an operation of the batch reserves on a line.
func (a *attempt) asksFor(line int64) bool {
	return slices.ContainsFunc(a.batch, func(o *operation) bool { return o.asked != nil && slices.Contains(o.lineOf, line) })
}

// lookUpLines adds the lines of holds that other processes created.
func (a *attempt) lookUpLines(ctx context.Context, tx sqldb.Tx, touched map[int64]bool, holds [][]any) error {
	return sqldb.QueryRows(ctx, a.db, tx, func(rows sqldb.Rows) error {
		text, err := sqldb.ScanText(rows)
		if err != nil {
			return err
		}
		lines, err := lineList(text)
		for _, line := range lines {
			touched[line] = true
		}
		return err
	}, linesOfHolds, idColumns(), holds)
}

// loading returns the statement that locks and reads lines.
func (a *attempt) loading(lines map[int64]bool) sqldb.RowsStatement {
	ids := make([][]any, 0, len(lines))
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(lines))) {
		ids = append(ids, []any{id})
	}
	return sqldb.RowsStatement{Text: loadLines, Columns: numberColumns(), Rows: ids, Scan: func(rows sqldb.Rows) error {
		var id int64
		on := &account{}
		err := rows.Scan(&id, &on.Spent.Credit, &on.Spent.Total, &on.Held.Credit, &on.Held.Total,
			&on.versions.record, &on.versions.guards)
		a.lines[id] = on
		return err
	}}
}

func scanHold(rows sqldb.Rows) (*hold, error) {
	h := &hold{}
	var id, lines string
	var deadline int64
	var event *string
	err := rows.Scan(&id, &h.state, &lines, &h.amount.Credit, &h.amount.Total, &deadline, &event)
	if err != nil {
		return h, err
	}
	h.deadline = sqldb.Instant(deadline)
	if h.id, err = uuid.Parse(id); err != nil {
		return h, err
	}
	if event != nil {
		if h.event, err = decodeEvent(*event); err != nil {
			return h, err
		}
	}
	h.lines, err = lineList(lines)
	return h, err
}

// lineList parses the line ids of a hold, as [textOfLines] writes them.
func lineList(text string) (ids []int64, err error) {
	for number := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// saved returns the statements that write what the batch changed.
func (b *books) saved() ([]sqldb.RowsStatement, error) {
	var lines, fresh, old [][]any
	for id, a := range b.lines {
		if a.changed && !a.gone {
			lines = append(lines, []any{id, int64(a.Spent.Credit), int64(a.Spent.Total), int64(a.Held.Credit), int64(a.Held.Total)})
		}
	}
	for _, h := range b.holds {
		if !h.changed {
			continue
		}
		row, err := rowOf(h)
		if err != nil {
			return nil, err
		}
		if h.fresh {
			fresh = append(fresh, row)
		} else {
			old = append(old, row)
		}
	}
	return []sqldb.RowsStatement{
		{Text: keepReplies, Columns: replyColumns(), Rows: b.kept, Changed: -1},
		{Text: saveLines, Columns: balanceColumns(), Rows: lines, Changed: int64(len(lines))},
		{Text: addHolds, Columns: holdColumns(), Rows: fresh, Changed: int64(len(fresh))},
		{Text: saveHolds, Columns: holdColumns(), Rows: old, Changed: int64(len(old))},
	}, nil
}

// textOfLines encodes the line ids of a hold.
func textOfLines(ids []int64) string {
	var text []byte
	for i, id := range ids {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, id, 10)
	}
	return string(text)
}

func rowOf(h *hold) ([]any, error) {
	var event *string
	if h.event.ID != "" && h.state != settled {
		text, err := encodeEvent(&h.event)
		if err != nil {
			return nil, err
		}
		event = &text
	}
	return []any{
		h.id.String(), int64(h.state), textOfLines(h.lines), int64(h.amount.Credit), int64(h.amount.Total), sqldb.Micros(h.deadline), event,
	}, nil
}
