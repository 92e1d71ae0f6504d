package sqlstore

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// swift is a batch that is written without a look at what is there. Its
// statements say what they expect: a hold that is new, or open on the lines and
// with the amount that are known, a line with room for all that the batch adds
// and with the limits that were read, events that were not recorded before. Where it is otherwise they fail, or
// change fewer rows than they must; then nothing of the batch has happened, and
// it is carried out with a look. All that it does to a line is to add and to
// subtract, so that processes do not undo each other's work, and a line is
// locked from there to the commit only.
type swift struct {
	ids   *lineIDs
	known *known

	seen   map[uuid.UUID]bool // holds of which each operation has one to itself
	fresh  [][]any
	closed [][]any
	taken  map[uuid.UUID]knownHold // from holds, by parts: with the lines that are known
	lines  map[int64]*posting
	events []router.Event
	kept   [][]any // replies, under claims that their calls must still have

	opened map[uuid.UUID]knownHold
	gone   []uuid.UUID
}

// posting is what a batch does to a line.
type posting struct {
	spent, more, less router.Amount // more and less are held
	room              router.Amount // what may be spent and held afterwards
	versions          versions      // that nothing may be newer than
}

// swiftly is the largest amount that a swift batch takes: the sum of as many as
// there can be in one is far from what a column takes.
const swiftly router.USD = 1 << 53

func isSwift(a router.Amount) bool {
	return a.Credit >= 0 && a.Credit <= swiftly && a.Total >= 0 && a.Total <= swiftly
}

// swift carries out what it can of a batch, and returns the operations that are
// to be carried out with a look at what is there.
func (l *Ledger) swift(ctx context.Context, batch []*operation) (rest []*operation) {
	s := &swift{
		ids: &l.ids, known: &l.known,
		seen: make(map[uuid.UUID]bool, len(batch)), taken: map[uuid.UUID]knownHold{},
		lines: map[int64]*posting{}, opened: make(map[uuid.UUID]knownHold, len(batch)),
	}
	var done []*operation
	for _, o := range batch {
		if o.swift != nil && o.swift(s, o) {
			done = append(done, o)
		} else {
			rest = append(rest, o)
		}
	}
	if len(done) == 0 {
		return batch
	}
	if err := l.db.WriteRows(ctx, s.statements(l.activity)...); err != nil {
		for _, o := range done {
			o.unsure = o.unsure || isUnknown(err)
		}
		return batch
	}
	l.known.did(s)
	return rest
}

// alone says whether nothing else in the batch is about a hold.
func (s *swift) alone(id uuid.UUID) bool {
	_, parted := s.taken[id]
	return !s.seen[id] && !parted
}

func (s *swift) line(id int64) *posting {
	c := s.lines[id]
	if c == nil {
		c = &posting{room: router.Amount{Credit: math.MaxInt64, Total: math.MaxInt64}, versions: anyVersions()}
		s.lines[id] = c
	}
	return c
}

// reserve makes a hold that is new, as far as is known.
func (s *swift) reserve(o *operation) bool {
	asked := o.asked
	if _, there := s.known.of(o.id); there || !s.alone(o.id) || !isSwift(asked.Amount) || len(s.ids.of(o)) > 0 {
		return false
	}
	for _, c := range asked.Caps {
		if !slices.Contains(asked.Lines, c.Line) || s.known.refuses(c.Line) {
			return false
		}
	}
	h := &hold{id: o.id, lines: slices.Sorted(slices.Values(o.lineOf)), amount: asked.Amount, deadline: asked.Deadline, event: asked.Event}
	row, err := rowOf(h)
	if err != nil {
		return false
	}
	for _, id := range o.lineOf {
		on := s.line(id)
		on.more = plus(on.more, asked.Amount)
	}
	for _, c := range asked.Caps {
		if asked.Amount.Of(c.BYOK) <= 0 {
			continue
		}
		on := s.line(o.lineOf[slices.Index(asked.Lines, c.Line)])
		if c.BYOK {
			on.room.Total = min(on.room.Total, c.Max)
		} else {
			on.room.Credit = min(on.room.Credit, c.Max)
		}
	}
	for _, v := range asked.Versions {
		if at := slices.Index(asked.Lines, v.Line); at >= 0 {
			newest := s.line(o.lineOf[at]).versions.of(v.Cover)
			*newest = min(*newest, v.N)
		}
	}
	s.seen[o.id] = true
	s.fresh = append(s.fresh, row)
	s.opened[o.id] = knownHold{lines: h.lines, amount: h.amount}
	return true
}

// settle closes a hold that this process has open: settled at cost, or voided.
func (s *swift) settle(id uuid.UUID, as state, cost router.Amount, events []router.Event) bool {
	h, ok := s.known.of(id)
	if !ok || !s.alone(id) || !isSwift(cost) {
		return false
	}
	for _, line := range h.lines {
		on := s.line(line)
		on.spent, on.less = plus(on.spent, cost), plus(on.less, h.amount)
	}
	amount := h.amount
	if as == settled {
		amount = cost
	}
	s.seen[id] = true
	s.closed = append(s.closed, []any{
		id.String(), int64(as), int64(amount.Credit), int64(amount.Total),
		int64(h.amount.Credit), int64(h.amount.Total), textOfLines(h.lines),
	})
	s.gone = append(s.gone, id)
	s.events = append(s.events, events...)
	return true
}

// settlePart takes a part from a hold that this process has open, and settles it.
func (s *swift) settlePart(whole uuid.UUID, part *router.Hold, cost router.Amount, events []router.Event) bool {
	w, ok := s.known.of(whole)
	if !ok || s.seen[whole] || !s.alone(part.ID) || !isSwift(cost) || !isSwift(part.Amount) {
		return false
	}
	row, err := rowOf(&hold{id: part.ID, state: settled, lines: w.lines, amount: cost, deadline: part.Deadline})
	if err != nil {
		return false
	}
	for _, line := range w.lines {
		on := s.line(line)
		on.spent, on.less = plus(on.spent, cost), plus(on.less, part.Amount)
	}
	s.seen[part.ID] = true
	s.fresh = append(s.fresh, row)
	s.taken[whole] = knownHold{lines: w.lines, amount: plus(s.taken[whole].amount, part.Amount)}
	s.events = append(s.events, events...)
	return true
}

// statements write the batch: what nobody else waits for first, and lines last,
// the youngest first, as everywhere: those of an account are older than those of
// its keys, and the more callers wait for a line, the shorter it is locked. A hold
// is closed before its events are recorded, as everywhere, too: rivals that do both
// meet at the hold.
func (s *swift) statements(activity *Activity) []RowsStatement {
	var lines, taken [][]any
	for id, c := range s.lines {
		lines = append(lines, []any{
			id, int64(c.spent.Credit), int64(c.spent.Total), int64(c.more.Credit), int64(c.more.Total),
			int64(c.less.Credit), int64(c.less.Total), int64(c.room.Credit), int64(c.room.Total),
			c.versions.record, c.versions.guards,
		})
	}
	for id, of := range s.taken {
		taken = append(taken, []any{id.String(), int64(of.amount.Credit), int64(of.amount.Total), textOfLines(of.lines)})
	}
	sortRows[int64](lines)
	slices.Reverse(lines)
	sortRows[string](s.closed)
	sortRows[string](taken)
	recorded := activity.statements(s.events)
	if len(recorded) > 0 {
		recorded[0].Text, recorded[0].Changed = newEvents, -1
	}
	statements := append([]RowsStatement{
		{Text: keepReplies, Columns: replyColumns(), Rows: s.kept, Changed: int64(len(s.kept))},
		{Text: newHolds, Columns: holdColumns(), Rows: s.fresh, Changed: -1},
		{Text: closeHolds, Columns: closingColumns(), Rows: s.closed, Changed: int64(len(s.closed))},
	}, recorded...)
	return append(statements,
		RowsStatement{Text: takeParts, Columns: partColumns(), Rows: taken, Changed: int64(len(taken))},
		RowsStatement{Text: changeLines, Columns: changeColumns(), Rows: lines, Changed: int64(len(lines))},
	)
}

// sortRows sorts rows by their first column.
func sortRows[T cmp.Ordered](rows [][]any) {
	slices.SortFunc(rows, func(a, b []any) int {
		x, _ := a[0].(T)
		y, _ := b[0].(T)
		return cmp.Compare(x, y)
	})
}
