package telemetry_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/systemone"
)

// printer is a sink that prints the names of spans.
type printer struct{}

func (printer) Offer(spans []telemetry.Span) {
	for _, s := range spans {
		fmt.Println(s.Kind, s.Name)
	}
}

// A whole service takes Intercept as the first of signalbox.Interceptors.First, and a
// queue of router/telemetry/export in place of the printer.
func ExampleNew() {
	t, err := telemetry.New(telemetry.Config{
		Sinks: func(router.Principal) []telemetry.Sink { return []telemetry.Sink{printer{}} },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := routertest.Catalog(&routertest.Script{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{Catalog: catalog, Interceptors: []router.Interceptor{t.Intercept}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Decide(context.Background(), &router.Call{Request: &systemone.Request{
		Model: routertest.Model,
		State: systemone.Text("I was charged twice for May."),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is a refund due?")},
		},
	}})
	fmt.Println(err)
	// Output:
	// internal decide acme/judge
	// client decide acme/judge
	// <nil>
}
