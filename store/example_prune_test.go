package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// drop goes one lap: it drops everything before an instant, 500 rows at a time.
func drop(ctx context.Context, pruner store.Pruner, before time.Time) (dropped int, err error) {
	for place, first := "", true; first || place != ""; first = false {
		pruned, err := pruner.Prune(ctx, before, place, 500)
		if err != nil {
			return dropped, err
		}
		dropped += pruned.Dropped
		place = pruned.Next
	}
	return dropped, nil
}

// A program that does not use signalbox.Service.Run drops old data by itself.
func ExamplePruner() {
	before := time.Date(2025, time.October, 18, 0, 0, 0, 0, time.UTC)
	fmt.Println(drop(context.Background(), memory.New().Pruner, before))
	// Output: 0 <nil>
}
