package hooks

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Alert is an event that an [AlertStore] keeps until it is delivered.
type Alert struct {
	ID     string // of the event
	Event  []byte // its JSON
	Raised time.Time
	// Expires is when the store may forget the alert, because its window is over; zero
	// for never.
	Expires time.Time
}

// AlertStore remembers which alerts were raised, so that processes which share it raise
// each alert once. It is safe for concurrent use, each method is one transaction, and a
// repetition of a method that failed is harmless. Methods honour ctx. store/storetest
// tests an implementation.
//
// An alert is due from Raised on, until [AlertStore.Done]. A process that ends between
// the two loses nothing: the alert is due again, for any process, once the time that
// Take gave is over. So every alert is delivered at least once.
type AlertStore interface {
	// Raise stores an alert, and does nothing where one with its ID is stored,
	// delivered or not. Of several calls with one ID the first one's alert is kept.
	Raise(ctx context.Context, a Alert) error
	// Take returns at most limit alerts that are due at now, those that have been due
	// longest first, and makes them due again at until. Of concurrent calls only one
	// gets an alert. Take may drop alerts whose Expires is not after now. The ID must
	// be another one for each call: by it a store finds what it took in a transaction
	// whose outcome it did not learn.
	Take(ctx context.Context, id uuid.UUID, now, until time.Time, limit int) ([]Alert, error)
	// Done marks an alert as delivered: it is never due again. An unknown ID is a
	// no-op.
	Done(ctx context.Context, id string) error
}
