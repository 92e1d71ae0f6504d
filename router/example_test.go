package router_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// yes answers every noul with the same probability.
type yes float64

func (p yes) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	var reply router.Reply
	for _, q := range a.Request.Questions {
		if q.Kind != systemone.Noul {
			reply.Refused = append(reply.Refused, router.Refusal{Question: q.Name})
			continue
		}
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: float64(p)})
	}
	reply.Usage.InputTokens = int64(len(a.Request.State))
	return reply, nil
}

// down is a provider that always fails.
type down struct{}

func (down) Decide(context.Context, router.Attempt) (router.Reply, error) {
	return router.Reply{}, &router.UpstreamError{Status: 500, Class: router.ProviderUnavailable}
}

// A decision in process: two providers, of which the cheaper one fails.
func ExampleRouter_Decide() {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{
			{Slug: "ant", Name: "Ant Cloud", Client: down{}},
			{Slug: "bee", Name: "Bee", Client: yes(0.9)},
		},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", UpstreamModel: "judge", Pricing: router.Pricing{Prompt: router.Dollars("1")}},
			{Provider: "bee", Model: "acme/judge", UpstreamModel: "judge-2", Pricing: router.Pricing{Prompt: router.Dollars("2")}},
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{Catalog: catalog})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := &router.Call{Request: &systemone.Request{
		Model: "judge",
		State: json.RawMessage(`"My card was charged twice."`),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is a refund due?"`)},
		},
		Provider: &systemone.Preferences{Sort: systemone.Sort{By: systemone.SortPrice}},
	}}
	res, err := r.Decide(context.Background(), call)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Response.Model, "at", res.Response.Provider, "for", res.Response.Usage.Cost, "USD")
	fmt.Println(res.Response.Answers[0].Name, res.Response.Answers[0].Noul)
	for _, a := range call.Report.Legs[0].Attempts {
		fmt.Println(a.Endpoint.Provider, a.Status)
	}
	// Output:
	// acme/judge-20260901 at Bee for 0.000056 USD
	// refund 0.9
	// ant 500
	// bee 200
}

func ExampleNew() {
	// The catalog is the only required field.
	_, err := router.New(router.Config{})
	fmt.Println(err)
	// Output:
	// router: invalid configuration: Catalog is required
}

// Settings of a whole account narrow every request.
func ExampleRestrict() {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: yes(0.9)}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "judge", CollectsData: true}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{
		Catalog:      catalog,
		Interceptors: []router.Interceptor{router.Restrict(router.Rule{ZDR: true})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = r.Decide(context.Background(), &router.Call{Request: &systemone.Request{
		Model: "judge",
		State: json.RawMessage(`"My card was charged twice."`),
		Questions: []systemone.Question{
			{Name: "refund", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is a refund due?"`)},
		},
	}})
	fmt.Println(err)
	// Output:
	// router: not_found: No endpoints found for judge
}
