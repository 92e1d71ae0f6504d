package sqlledger

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// fastPath is a batch that is written without reading first. Its statements state
// what they expect: a new hold, or an open one with the lines and the amount that
// this process remembers; lines with room and with versions no newer than those of
// the limits; events that were not recorded before. Where the database differs, a
// statement fails or changes fewer rows than it must, the transaction is rolled
// back, and the batch is carried out with rows loaded and locked.
//
// Lines are only added to and subtracted from, so processes do not overwrite each
// other's work. A line is locked from its statement, the last one, to the commit.
type fastPath struct {
	ids   *lineIDs
	known *known

	seen   map[uuid.UUID]bool // holds that an operation of the batch opens or closes
	fresh  [][]any
	closed [][]any
	taken  map[uuid.UUID]knownHold // parts taken from holds, with the lines of the whole
	lines  map[int64]*lineChange
	events []router.Event
	kept   [][]any // replies to store; their calls must still own the claims

	opened map[uuid.UUID]knownHold
	gone   []uuid.UUID
}

// lineChange is what a batch does to one line.
type lineChange struct {
	spent, more, less router.Amount // to add to spent, to add to held, to subtract from held
	room              router.Amount // upper bound of spent plus held afterwards
	versions          versions      // upper bounds of the line's versions
}

// maxFast is the largest amount on the fast path. The sum over a full batch is far
// below the largest 64-bit integer.
const maxFast router.USD = 1 << 53

func fitsFast(a router.Amount) bool {
	return a.Credit >= 0 && a.Credit <= maxFast && a.Total >= 0 && a.Total <= maxFast
}

// runFast carries out what it can of a batch on the fast path, and returns the
// operations that remain.
func (l *Ledger) runFast(ctx context.Context, batch []*operation) (rest []*operation) {
	s := &fastPath{
		ids: &l.ids, known: &l.known,
		seen: make(map[uuid.UUID]bool, len(batch)), taken: map[uuid.UUID]knownHold{},
		lines: map[int64]*lineChange{}, opened: make(map[uuid.UUID]knownHold, len(batch)),
	}
	var done []*operation
	for _, o := range batch {
		if o.fast != nil && o.fast(s, o) {
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
			o.unsure = o.unsure || errors.Is(err, sqldb.ErrUnknown)
		}
		return batch
	}
	l.known.learnFast(s)
	return rest
}

// alone reports whether no other operation of the batch touches a hold.
func (s *fastPath) alone(id uuid.UUID) bool {
	_, parted := s.taken[id]
	return !s.seen[id] && !parted
}

func (s *fastPath) line(id int64) *lineChange {
	c := s.lines[id]
	if c == nil {
		c = &lineChange{room: router.Amount{Credit: math.MaxInt64, Total: math.MaxInt64}, versions: anyVersions()}
		s.lines[id] = c
	}
	return c
}

// reserve adds a hold that this process does not know. It reports whether the fast
// path can take the operation; the same goes for settle and settlePart.
func (s *fastPath) reserve(o *operation) bool {
	asked := o.asked
	if _, there := s.known.of(o.id); there || !s.alone(o.id) || !fitsFast(asked.Amount) || len(s.ids.of(o)) > 0 {
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

// settle closes a hold that this process has open, as settled at cost or as voided.
func (s *fastPath) settle(id uuid.UUID, as state, cost router.Amount, events []router.Event) bool {
	h, ok := s.known.of(id)
	if !ok || !s.alone(id) || !fitsFast(cost) {
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

// settlePart takes a part from a hold that this process has open, and settles the
// part.
func (s *fastPath) settlePart(whole uuid.UUID, part *router.Hold, cost router.Amount, events []router.Event) bool {
	w, ok := s.known.of(whole)
	if !ok || s.seen[whole] || !s.alone(part.ID) || !fitsFast(cost) || !fitsFast(part.Amount) {
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

// statements return the batch in the lock order of the package. Rows that no other
// call waits for come first and lines last, from the highest id to the lowest. The
// lines of an account are older than those of its keys, so the lines that most
// callers wait for are locked for the shortest time. Holds are closed before events
// are recorded: concurrent transactions that do both conflict at the hold.
func (s *fastPath) statements(activity *Activity) []sqldb.RowsStatement {
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
	statements := append([]sqldb.RowsStatement{
		{Text: keepReplies, Columns: replyColumns(), Rows: s.kept, Changed: int64(len(s.kept))},
		{Text: newHolds, Columns: holdColumns(), Rows: s.fresh, Changed: -1},
		{Text: closeHolds, Columns: closingColumns(), Rows: s.closed, Changed: int64(len(s.closed))},
	}, recorded...)
	return append(statements,
		sqldb.RowsStatement{Text: takeParts, Columns: partColumns(), Rows: taken, Changed: int64(len(taken))},
		sqldb.RowsStatement{Text: changeLines, Columns: changeColumns(), Rows: lines, Changed: int64(len(lines))},
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
