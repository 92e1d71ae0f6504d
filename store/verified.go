package store

import "fmt"

// Verified is the result of computing a store's sums from the events, the holds and the
// payments.
type Verified struct {
	Events, Lines, OpenHolds int
	// Differences are the sums that differ, at most ten thousand; none if all are
	// right.
	Differences []Difference
}

// Difference is a stored sum that differs from the computed one. Its texts are for people
// to read.
type Difference struct {
	// What is "usage_by_key" or "usage_by_account", a roll-up of the events;
	// "spent" or "held", of a line; "credits", the payments of an account;
	// "events_new", the size of a list; or "day", of events that are stored under
	// another day than that of their instant.
	What             string
	Where            string // the row; its texts are quoted
	Stored, Computed string // the figures that differ; "nothing" for a missing row
}

// String returns the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s of %s: stored is %s, computed is %s", d.What, d.Where, d.Stored, d.Computed)
}
