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

// What did second opinions cost in the last thirty days?
func ExampleQuery_byReason() {
	ctx := context.Background()
	day := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	store := memory.New().Activity
	s, err := activity.New(activity.Config{Store: store, Now: func() time.Time { return day.AddDate(0, 0, 1) }})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A cheap model answered two calls. In the second one a question was unsure, so
	// a strong model was asked as well.
	event := func(id, model string, reason router.LegReason, cost router.USD) router.Event {
		return router.Event{
			ID: id, Admitted: day, Principal: router.Principal{Account: "acme"}, Model: model, Reason: reason,
			Cost: router.Amount{Credit: cost, Total: cost},
		}
	}
	if err := store.Record(ctx, []router.Event{
		event("gen-dec-1/0", "acme/judge", router.LegFirst, router.Dollar/1000),
		event("gen-dec-2/0", "acme/judge", router.LegFirst, router.Dollar/1000),
		event("gen-dec-2/1", "acme/sage", router.LegEscalated, router.Dollar/50),
	}); err != nil {
		fmt.Println(err)
		return
	}
	items, err := s.Items(ctx, "acme", activity.Query{ByReason: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	cost := map[router.LegReason]router.USD{}
	for _, i := range items {
		cost[i.Reason] += i.Cost.Credit
	}
	fmt.Println("first:", cost[router.LegFirst], "escalated:", cost[router.LegEscalated])
	// Output: first: 0.002 escalated: 0.02
}
