package store

import (
	"context"
	"time"
)

// Pruner drops what is older than a program wants to keep: events with their sums
// by day, records of changes, and lines of windows that are over. What a limit
// looks at stays: the lines of all windows that are not over, with what they
// have counted from the first day on.
//
// From the first portion on, no use before the instant is reported any more. An
// event that was dropped and is recorded once more counts once more. Safe for
// concurrent use, also by several processes.
type Pruner interface {
	// Prune goes through the next rows after a place, in one transaction, and drops
	// those that belong to UTC days before that of an instant, at most limit of
	// them. How many it looks at is bound in proportion. It returns the place to go
	// on from: "" at the end of a lap, as at the beginning of one. A lap ends however
	// much is written meanwhile. A place that no Prune returned is the beginning. A
	// limit below 1 is 1.
	Prune(ctx context.Context, before time.Time, from string, limit int) (Pruned, error)
}

// Pruned is the result of one portion.
type Pruned struct {
	Next    string // where the next portion begins; "" when all was gone through
	Dropped int    // events, records and lines
}
