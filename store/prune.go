package store

import (
	"context"
	"time"
)

// Pruner deletes records that are older than a program wants to keep: events with their
// daily sums, audit records, and lines of windows that have ended. Limits do not change,
// because lines of running windows stay.
//
// After the first call, usage before the given instant is no longer reported. If a deleted
// event is recorded again, it counts again. A Pruner is safe for concurrent use, also by
// several processes.
type Pruner interface {
	// Prune visits the rows after the place from, in one transaction, and deletes those
	// of UTC days before the day of before. It deletes at most limit rows, and visits a
	// bounded multiple of limit. It returns the place to continue from. An empty or
	// unknown from starts a lap over all rows; an empty Next ends it. A lap ends even if
	// rows are written meanwhile. A limit below 1 counts as 1.
	Prune(ctx context.Context, before time.Time, from string, limit int) (Pruned, error)
}

// Pruned is the result of one call of Prune.
type Pruned struct {
	Next    string // the place to continue from; "" at the end of a lap
	Dropped int    // events, records and lines
}
