package store

import (
	"context"
	"time"
)

// Pruner drops what is older than a program wants to keep: events with their sums by day,
// records of changes, and lines of windows that are over. Everything that a limit depends
// on stays: lines of windows that are not over keep what they have counted.
//
// From the first portion on, no use before the given instant is reported. An event that was
// dropped and is recorded again counts again. Safe for concurrent use, also by several
// processes.
type Pruner interface {
	// Prune visits the next rows after the place from, in one transaction. It drops
	// those of UTC days before the day of before, at most limit of them, and visits a
	// bounded multiple of limit. It returns the place to continue from. An empty place
	// is the beginning of a lap and, when it is returned, the end of one. A lap ends
	// however much is written meanwhile. Any other unknown place is the beginning too.
	// A limit below 1 is 1.
	Prune(ctx context.Context, before time.Time, from string, limit int) (Pruned, error)
}

// Pruned is the result of one portion.
type Pruned struct {
	Next    string // the place of the next portion; "" at the end of a lap
	Dropped int    // events, records and lines
}
