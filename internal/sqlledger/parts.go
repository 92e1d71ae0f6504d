package sqlledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Split moves part of a hold into a new hold with the ID, the deadline and the event
// of part, on the same lines. The total that is held does not change, so no cap is
// checked. If whole has less than part.Amount, the new hold gets what is left. If
// whole is closed, the new hold is closed too; if expiry charged whole, the part
// stays charged until it is settled. A hold that exists under part.ID stays as it is.
// Split returns [router.ErrNoHold] if whole is unknown.
func (l *Ledger) Split(ctx context.Context, whole uuid.UUID, part router.Hold) error {
	if err := checkPart(&part); err != nil {
		return err
	}
	return l.group.submit(ctx, &operation{
		id: part.ID, whole: whole,
		apply: func(b *books, _ *operation) error { return b.split(whole, &part) },
	})
}

// SettlePart is [Ledger.Split] followed by [Ledger.SettleWith] of the part, in one
// transaction.
func (l *Ledger) SettlePart(
	ctx context.Context, whole uuid.UUID, part router.Hold, cost router.Amount, events []router.Event,
) error {
	if !keepsEvents(events) {
		return errText
	}
	if err := checkPart(&part); err != nil {
		return err
	}
	return l.record(ctx, len(events), &operation{
		id: part.ID, whole: whole,
		apply: func(b *books, _ *operation) error {
			if err := b.split(whole, &part); err != nil {
				return err
			}
			return b.settle(part.ID, cost, events)
		},
		fast: func(s *fastPath, _ *operation) bool { return s.settlePart(whole, &part, cost, events) },
	})
}

// checkPart returns why a part cannot be split off, or nil. It rounds the deadline up
// to what can be stored.
func checkPart(part *router.Hold) error {
	switch {
	case part.Amount.Credit < 0 || part.Amount.Credit > part.Amount.Total:
		return errHold
	case !keepsHold(part):
		return errText
	}
	part.Deadline = after(part.Deadline)
	return nil
}

// split moves part into a hold of its own, unless a hold with its ID exists.
func (b *books) split(whole uuid.UUID, part *router.Hold) error {
	w := b.holds[whole]
	switch {
	case b.holds[part.ID] != nil:
		return nil
	case w == nil:
		return router.ErrNoHold
	}
	h := &hold{
		id: part.ID, state: w.state, lines: w.lines, deadline: part.Deadline, event: part.Event, fresh: true, changed: true,
	}
	switch w.state {
	case open, posted:
		total := min(part.Amount.Total, w.amount.Total)
		rest := w.amount.Total - total
		// The rest must not have more credit than total.
		credit := max(min(part.Amount.Credit, w.amount.Credit), w.amount.Credit-rest)
		h.amount = router.Amount{Credit: credit, Total: total}
		w.amount, w.changed = minus(w.amount, h.amount), true
	case settled:
		h.state = voided
	case voided:
	}
	if w.state == posted {
		h.event = ofPart(w.event, part.ID)
	}
	b.holds[h.id] = h
	return nil
}

// ofPart returns the event for a part of a hold that expiry charged. The part's cost
// is within the event of whole, and the counts stay with whole.
func ofPart(whole router.Event, part uuid.UUID) router.Event {
	if whole.ID == "" {
		return router.Event{}
	}
	whole.ID += "/" + part.String()
	whole.Requests, whole.Prompt, whole.Completion, whole.Reasoning, whole.Cached = 0, 0, 0, 0, 0
	return whole
}
