package sqlstore

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// payment is what SettlePart asks for.
type payment struct {
	part   *router.Hold
	cost   router.Amount
	events []router.Event
	lines  []int64 // of the whole, where [attempt.pay] is to carry it out
}

// pays says whether [attempt.pay] is to carry an operation out.
func (o *operation) pays() bool { return o.paid != nil && o.paid.lines != nil }

// payments takes out of a batch those settlements of parts that [attempt.pay]
// can carry out: of open holds that this process made, as far as it knows.
func (l *Ledger) payments(batch []*operation) (payments, others []*operation) {
	for _, o := range batch {
		if p := o.paid; p != nil && p.cost.Credit >= 0 && p.cost.Total >= 0 {
			p.lines = l.own.of(o.whole)
		}
		if o.pays() {
			payments = append(payments, o)
		} else {
			others = append(others, o)
		}
	}
	return payments, others
}

// pay settles parts without a look at what is there: that parts and events are
// new, and wholes open and large enough, is what statements must find, or else the
// next try is careful. So the lines, which other processes wait for, are locked no sooner
// than all other rows are written, and before the wholes, as everywhere.
func (a *attempt) pay(ctx context.Context, tx Tx) error {
	var parts [][]any
	var events []router.Event
	wholes, lines := map[uuid.UUID]router.Amount{}, map[int64]router.Balance{}
	for _, o := range a.batch {
		p := o.paid
		row, err := rowOf(&hold{id: o.id, state: settled, lines: p.lines, amount: p.cost, deadline: p.part.Deadline})
		if err != nil {
			return err
		}
		parts, events = append(parts, row), append(events, p.events...)
		wholes[o.whole] = plus(wholes[o.whole], p.part.Amount)
		for _, id := range p.lines {
			on := lines[id]
			lines[id] = router.Balance{Spent: plus(on.Spent, p.cost), Held: plus(on.Held, p.part.Amount)}
		}
		o.err = nil
	}
	statements := append([]RowsStatement{
		{Text: newHolds, Columns: holdColumns(), Rows: parts, Changed: int64(len(parts))},
	}, spending(lines, wholes)...)
	if recorded := a.activity.statements(events); len(recorded) > 0 {
		recorded[0].Text = newEvents
		statements = append(append(recorded[:1:1], statements...), recorded[1:]...)
	}
	return a.db.RunRows(ctx, tx, statements...)
}

// spending adds to what is spent on lines, and takes from what is held there and
// from holds.
func spending(lines map[int64]router.Balance, wholes map[uuid.UUID]router.Amount) []RowsStatement {
	var ids, spent, taken [][]any
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		on := lines[id]
		ids = append(ids, []any{id})
		spent = append(spent, []any{id, int64(on.Spent.Credit), int64(on.Spent.Total), int64(on.Held.Credit), int64(on.Held.Total)})
	}
	for id, amount := range wholes {
		taken = append(taken, []any{id.String(), int64(amount.Credit), int64(amount.Total)})
	}
	return []RowsStatement{
		{Text: lockLines, Columns: numberColumns(), Rows: ids, Scan: func(Rows) error { return nil }},
		{Text: spendLines, Columns: balanceColumns(), Rows: spent, Changed: int64(len(spent))},
		{Text: takeParts, Columns: partColumns(), Rows: taken, Changed: int64(len(taken))},
	}
}
