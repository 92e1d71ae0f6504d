package store

import "fmt"

// Verified is what was found when a store's sums were computed anew from the
// events, the holds and the payments that they are made of.
type Verified struct {
	Events, Lines, OpenHolds int
	// Differences are what does not add up; none when all is well. At most ten
	// thousand are listed.
	Differences []Difference
}

// Difference is a sum that is not what events and holds add up to. Its texts are
// for people.
type Difference struct {
	// What is "usage_by_key" or "usage_by_account", a rollup of the events;
	// "spent" or "held" of a line; "credits", what an account has paid in; or
	// "day", of events that are filed under another one than that of their
	// instant.
	What             string
	Where            string // names the row, with its texts quoted
	Stored, Computed string // the figures that differ; "nothing" where there is no row
}

// String is the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s of %s: stored is %s, computed is %s", d.What, d.Where, d.Stored, d.Computed)
}
