package activity_test

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// What was used on a day is shown from the next day on.
func ExampleService_Items() {
	ctx := context.Background()
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	store := memory.New().Activity
	s, err := activity.New(activity.Config{Store: store, Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The ledger or Service.Intercept records this.
	if err := store.Record(ctx, []router.Event{{
		ID: "gen-dec-1/0", Admitted: now, Principal: router.Principal{Account: "acme"}, Model: "acme/judge", Requests: 1, Prompt: 120,
	}}); err != nil {
		fmt.Println(err)
		return
	}
	now = now.AddDate(0, 0, 1)
	items, err := s.Items(ctx, "acme", activity.Query{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range items {
		fmt.Println(i.Date, i.Model, i.Requests, i.Prompt)
	}
	// Output: 2026-11-02 acme/judge 1 120
}
