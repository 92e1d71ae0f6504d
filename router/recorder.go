package router

import (
	"context"

	"github.com/google/uuid"
)

// Recorder is an optional interface of a [Ledger] that keeps activity as well.
// What a call used is recorded in the transaction that settles it, and what
// expiry posts in the transaction that posts it. So at every instant the events
// add up to what is spent on every line, as long as holds come with an Event and
// settlements with events.
//
// It refines three methods of Ledger. [Ledger.Expire] that posts a hold whose
// Event has an ID records [Event.Posted] of that Event and of the amount that
// was held; one that voids a hold records nothing. [Ledger.Settle] and
// [Ledger.Void] of such a posted hold, like SettleWith, record [Event.Corrected] of
// what was posted.
// Events go by their IDs: one whose ID was recorded before, in whatever way,
// adds nothing.
//
// A Ledger that wraps another has the methods of Recorder only if it passes
// them on itself.
type Recorder interface {
	// SettleWith is Settle, and records events in the same transaction: both
	// happen, or neither. With an error, as ErrConflict or ErrNoHold, no event
	// is recorded. Without one all of them are, also when the hold was settled
	// at that cost before: those recorded before add nothing, so the same again
	// is a no-op. That the costs of events add up to cost is the caller's
	// promise.
	SettleWith(ctx context.Context, hold uuid.UUID, cost Amount, events []Event) error

	// RecordsTo reports whether store, an activity's store, is the one that
	// shows the events recorded here. Of any other it is false, also of one that
	// wraps it: an event recorded twice counts once, an event recorded in
	// another store would be missing.
	RecordsTo(store any) bool
}

// RecordedIn reports whether the call's events are in store, an activity's
// store, already: the ledger recorded them when it settled the call. It is for
// interceptors, when the engine has answered; of a call that nothing was held
// for it is false.
func (c *Call) RecordedIn(store any) bool {
	return c.recorder != nil && c.recorder.RecordsTo(store)
}

// record makes ready what the ledger records of a call, if it does. What an
// embedding program asks itself, without an account, is nobody's activity.
func (s *reservation) record(c *Call) {
	recorder, ok := s.router.cfg.Ledger.(Recorder)
	if !ok || c.Principal.Account == "" {
		return
	}
	s.recorder = recorder
	s.hold.Event = Event{ID: c.ID + "/held", Admitted: c.Admitted.UTC(), Principal: c.Principal, Requests: 1}
}
