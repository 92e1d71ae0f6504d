package store

import "fmt"

// Verified is the result of comparing a store's sums with sums computed from its events,
// holds and payments.
type Verified struct {
	Events, Lines, OpenHolds int
	// Differences are the sums that differ, at most 10,000.
	Differences []Difference
}

// Difference is a stored sum that differs from the computed one. Its texts are for people
// to read.
type Difference struct {
	// What names the sum: "usage_by_key" or "usage_by_account" of the events, "spent" or
	// "held" of a line, "credits" of an account's payments, "events_new" for the size of
	// that list, or "day" for events that are stored under the wrong day.
	What             string
	Where            string // the row; its texts are quoted
	Stored, Computed string // the figures that differ; "nothing" for a missing row
}

// String returns the difference as one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s of %s: stored is %s, computed is %s", d.What, d.Where, d.Stored, d.Computed)
}
