package router_test

import (
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func ExampleNewCatalog() {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901", Aliases: []string{"judge-latest"}}},
		[]router.ProviderInfo{{Slug: "ant", Name: "Ant Cloud", Client: nobody{}}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("2")}},
			{Provider: "ant", Variant: "eu", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("3")}, ZDR: true},
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range catalog.EndpointsOf(catalog.Model("judge-latest")) {
		fmt.Println(e.Tag(), e.Pricing.Prompt)
	}

	_, err = router.NewCatalog(nil, nil, []router.Endpoint{{Provider: "ant", Model: "acme/judge"}})
	fmt.Println(err)
	// Output:
	// ant 2
	// ant/eu 3
	// router: invalid configuration: endpoints[0]: unknown provider "ant"
}

// A catalog for a test or a small program.
func ExampleSingle() {
	catalog, err := router.Single(yes(0.9), router.Endpoint{Provider: "ant", Model: "acme/judge"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(catalog.Model("judge").ID, "at", catalog.Provider("ant").Name)

	_, err = router.Single(yes(0.9), router.Endpoint{Provider: "ant", Model: "judge"})
	fmt.Println(err)
	// Output:
	// acme/judge at ant
	// router: invalid configuration: models[0]: ID "judge" is not of the form author/name
}

func ExampleNewPlan() {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: nobody{}}, {Slug: "bee", Client: nobody{}}, {Slug: "cat", Client: nobody{}}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("1")}, CollectsData: true},
			{Provider: "bee", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("2")}},
			{Provider: "cat", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("4")}},
		},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	models, err := catalog.Resolve("judge")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := router.NewPlan(router.PlanInput{
		Catalog:     catalog,
		Models:      models,
		Shape:       router.Shape{Questions: 1, PromptTokens: 1000},
		Preferences: &systemone.Preferences{DataCollection: systemone.DataCollectionDeny},
		Seed:        7,
	})
	fmt.Println(plan.Strategy)
	for _, c := range plan.Candidates {
		fmt.Println(c.Endpoint.Tag(), c.Reason, c.Weight)
	}
	for _, e := range plan.Excluded {
		fmt.Println("not", e.Endpoint.Tag(), e.Reason, e.Source)
	}
	// Output:
	// load-balancing
	// bee drawn 0.8
	// cat price 0.2
	// not ant data_policy:training request
}
