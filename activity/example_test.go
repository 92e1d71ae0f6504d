package activity_test

import (
	"context"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// What was used on a day is shown from the next day on.
func ExampleService_Items() {
	ctx := context.Background()
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	s, err := activity.New(activity.Config{Store: memory.New().Activity, Now: func() time.Time { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "acme", Client: routertest.NewScript()}},
		[]router.Endpoint{{Provider: "acme", Model: "acme/judge"}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := router.New(router.Config{
		Catalog: catalog, Interceptors: []router.Interceptor{s.Intercept}, Now: func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := &router.Call{
		Principal: router.Principal{Account: "acme"},
		Request: &systemone.Request{
			Model: "acme/judge", State: systemone.Text("Please send my money back."),
			Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?")}},
		},
	}
	if _, err := rt.Decide(ctx, call); err != nil {
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
		fmt.Println(i.Date, i.Model, i.Requests)
	}
	// Output: 2026-11-02 acme/judge 1
}
