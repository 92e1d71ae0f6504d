package router

import (
	"context"

	"github.com/google/uuid"
)

// Recorder is an optional interface of a [Ledger] that stores activity as well. It
// records the events of a call in the transaction that settles the call, and those
// of expiry in the transaction that charges the hold. So at every instant the
// events add up to what is spent on every line, provided that holds have an Event
// and settlements have events.
//
// It refines three methods of Ledger. [Ledger.Expire] records [Event.Posted] for
// each hold that it charges and whose Event has an ID; for a hold that it voids it
// records nothing. [Ledger.Settle], [Ledger.Void] and SettleWith of a hold that
// expiry charged record [Event.Corrected] of that event. An event whose ID was
// recorded before, in whatever way, adds nothing.
//
// A Ledger that wraps another has the methods of Recorder only if it forwards them
// itself.
type Recorder interface {
	// SettleWith is Settle and records events in the same transaction. With an
	// error, such as ErrConflict or ErrNoHold, no event is recorded. Without one
	// all are recorded, also when the hold was settled at that cost before: events
	// recorded before add nothing, so a repetition is a no-op. The caller must make
	// sure that the costs of the events add up to cost.
	SettleWith(ctx context.Context, hold uuid.UUID, cost Amount, events []Event) error

	// RecordsTo reports whether store, an activity store, is the one that shows the
	// events recorded here. It is false for any other, including one that wraps it.
	// A wrong false is harmless because an event recorded twice counts once; a
	// wrong true would lose events.
	RecordsTo(store any) bool
}

// RecordedIn reports whether the ledger has recorded the call's events in store, an
// activity store. It is for interceptors, after the engine has answered. It is
// false for a call without a hold.
func (c *Call) RecordedIn(store any) bool {
	return c.recorder != nil && c.recorder.RecordsTo(store)
}

// record prepares the event of the hold, if the ledger records events. A call
// without an account, by the embedding program itself, has no activity.
func (s *reservation) record(c *Call) {
	recorder, ok := s.router.cfg.Ledger.(Recorder)
	if !ok || c.Principal.Account == "" {
		return
	}
	s.recorder = recorder
	s.hold.Event = Event{ID: c.ID + "/held", Admitted: c.Admitted.UTC(), Principal: c.Principal, Requests: 1}
}
