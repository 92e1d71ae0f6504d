package sqlledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Split makes a part of a hold a hold of its own, with the ID, the deadline and
// the event of part, on the lines of whole; what is set aside in all stays the
// same, so no cap is asked. Whole keeps the rest. Of a hold that has less than
// the part's Amount the part is what is there, and of one that is closed it is
// closed, too: of what expiry posted a part stays posted until it is settled. A
// hold that is there under the part's ID stays as it is. An unknown whole is
// [router.ErrNoHold].
func (l *Ledger) Split(ctx context.Context, whole uuid.UUID, part router.Hold) error {
	if err := checkPart(&part); err != nil {
		return err
	}
	return l.group.submit(ctx, &operation{
		id: part.ID, whole: whole,
		apply: func(b *books, _ *operation) error { return b.split(whole, &part) },
	})
}

// SettlePart is Split and SettleWith of the part in one transaction.
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

// checkPart says why a part cannot be split off, and makes its deadline one that
// can be stored.
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

// split makes part a hold of its own, unless there is one under its id.
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
		// What stays must have no more credit than it has in total.
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

// ofPart is what stands recorded of a part of a hold that expiry has posted: its
// cost is within that of the whole, whose counts stay with the whole.
func ofPart(whole router.Event, part uuid.UUID) router.Event {
	if whole.ID == "" {
		return router.Event{}
	}
	whole.ID += "/" + part.String()
	whole.Requests, whole.Prompt, whole.Completion, whole.Reasoning, whole.Cached = 0, 0, 0, 0, 0
	return whole
}
