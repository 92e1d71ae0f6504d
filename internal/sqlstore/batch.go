package sqlstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// errRaced is a hold that another process made in the meantime.
var errRaced = errors.New("sqlstore: another process was faster")

// errLost is a line that is gone, which only another hand can have done: a
// database that was restored, for example.
var errLost = errors.New("sqlstore: a line is missing")

// carryOut runs a batch in one transaction and sets each operation's err; what
// it returns is what failed all of them. Every operation goes by the id of its
// hold, so that a batch whose outcome is unknown is simply run again.
func (l *Ledger) carryOut(ctx context.Context, batch []*operation) error {
	for {
		var learned map[router.Line]int64
		err := l.db.Write(ctx, func(tx Tx) (err error) {
			learned, err = l.attempt(ctx, tx, batch)
			return err
		})
		switch {
		case err == nil:
			l.ids.learn(learned)
			return nil
		case ctx.Err() != nil || !errors.Is(err, errRaced) && !isUnknown(err):
			return err
		}
		for _, o := range batch {
			o.unsure = o.unsure || isUnknown(err)
		}
	}
}

// attempt loads what the batch touches, carries it out and saves what changed.
// It returns the ids of lines that were not known before.
func (l *Ledger) attempt(ctx context.Context, tx Tx, batch []*operation) (map[router.Line]int64, error) {
	b := &books{lines: map[int64]*account{}}
	var err error
	if b.holds, err = l.loadHolds(ctx, tx, batch); err != nil {
		return nil, err
	}
	learned, err := l.nameLines(ctx, tx, batch)
	if err != nil {
		return nil, err
	}
	if err := l.loadLines(ctx, tx, b, batch); err != nil {
		return nil, err
	}
	for _, o := range batch {
		o.err = o.do(b, o)
	}
	if err := l.save(ctx, tx, b); err != nil {
		return nil, err
	}
	return learned, l.activity.record(ctx, tx, b.events)
}

// loadHolds locks and loads the holds of a batch that exist.
func (l *Ledger) loadHolds(ctx context.Context, tx Tx, batch []*operation) (map[uuid.UUID]*hold, error) {
	ids := make([][]any, len(batch))
	for i, o := range batch {
		ids[i] = []any{o.id.String()}
	}
	found := map[uuid.UUID]*hold{}
	err := l.db.QueryRows(ctx, tx, func(rows Rows) error {
		h, err := scanHold(rows)
		found[h.id] = h
		return err
	}, loadHolds, idColumns(), ids)
	return found, err
}

func scanHold(rows Rows) (*hold, error) {
	h := &hold{}
	var id, lines string
	var deadline int64
	var event *string
	err := rows.Scan(&id, &h.state, &lines, &h.amount.Credit, &h.amount.Total, &deadline, &event)
	if err != nil {
		return h, err
	}
	h.deadline = instant(deadline)
	if h.id, err = parsed(id); err != nil {
		return h, err
	}
	if event != nil {
		if h.event, err = decodeEvent(*event); err != nil {
			return h, err
		}
	}
	for text := range strings.SplitSeq(lines, ",") {
		line, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return h, err
		}
		h.lines = append(h.lines, line)
	}
	return h, nil
}

// loadLines locks and loads the lines of a batch.
func (l *Ledger) loadLines(ctx context.Context, tx Tx, b *books, batch []*operation) error {
	touched := map[int64]bool{}
	for _, o := range batch {
		for _, id := range o.lineOf {
			touched[id] = true
		}
		if h := b.holds[o.id]; h != nil {
			for _, id := range h.lines {
				touched[id] = true
			}
		}
	}
	ids := make([][]any, 0, len(touched))
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		ids = append(ids, []any{id})
	}
	err := l.db.QueryRows(ctx, tx, func(rows Rows) error {
		var id int64
		a := &account{}
		err := rows.Scan(&id, &a.Spent.Credit, &a.Spent.Total, &a.Held.Credit, &a.Held.Total)
		b.lines[id] = a
		return err
	}, loadLines, numberColumns(), ids)
	if err == nil && len(b.lines) < len(ids) {
		l.ids.forget()
		return errLost
	}
	return err
}

// save writes back what changed.
func (l *Ledger) save(ctx context.Context, tx Tx, b *books) error {
	var lines, fresh, old [][]any
	for id, a := range b.lines {
		if a.changed {
			lines = append(lines, []any{id, int64(a.Spent.Credit), int64(a.Spent.Total), int64(a.Held.Credit), int64(a.Held.Total)})
		}
	}
	for _, h := range b.holds {
		if !h.changed {
			continue
		}
		row, err := rowOf(h)
		if err != nil {
			return err
		}
		if h.fresh {
			fresh = append(fresh, row)
		} else {
			old = append(old, row)
		}
	}
	if _, err := l.db.ExecRows(ctx, tx, saveLines, balanceColumns(), lines); err != nil {
		return err
	}
	n, err := l.db.ExecRows(ctx, tx, addHolds, holdColumns(), fresh)
	if err == nil && n != int64(len(fresh)) {
		err = errRaced
	}
	if err != nil {
		return err
	}
	_, err = l.db.ExecRows(ctx, tx, saveHolds, holdColumns(), old)
	return err
}

func rowOf(h *hold) ([]any, error) {
	var lines []byte
	for i, id := range h.lines {
		if i > 0 {
			lines = append(lines, ',')
		}
		lines = strconv.AppendInt(lines, id, 10)
	}
	var event *string
	if h.event.ID != "" && h.state != settled {
		text, err := encodeEvent(&h.event)
		if err != nil {
			return nil, err
		}
		event = &text
	}
	return []any{
		h.id.String(), int64(h.state), string(lines), int64(h.amount.Credit), int64(h.amount.Total), micros(h.deadline), event,
	}, nil
}
