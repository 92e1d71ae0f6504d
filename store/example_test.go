package store_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// refusals is a ledger that counts how often the one behind it refuses a hold.
type refusals struct {
	router.Ledger

	n int
}

func (r *refusals) Reserve(ctx context.Context, h router.Hold) error {
	err := r.Ledger.Reserve(ctx, h)
	if err != nil {
		r.n++
	}
	return err
}

// The fields of a set may come from different stores, and any of them can be the
// program's own.
func Example() {
	ledger := &refusals{Ledger: memory.New().Ledger}
	set := memory.New()
	set.Ledger = ledger

	hold := router.Hold{
		Lines:  []router.Line{{Owner: "key:k", Window: "2026-11"}},
		Amount: router.Amount{Credit: router.Dollar, Total: router.Dollar},
		Caps:   []router.Cap{{Line: router.Line{Owner: "key:k", Window: "2026-11"}, Max: router.Dollar / 2}},
	}
	err := set.Ledger.Reserve(context.Background(), hold)
	fmt.Println(err != nil, ledger.n)
	// Output: true 1
}
