package guardrails_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// A guardrail that is assigned to a key applies to all of its calls.
func Example() {
	ctx := context.Background()
	service, err := guardrails.New(guardrails.Config{
		Store: memory.New().Guardrails,
		Key: func(_ context.Context, account, hash string) (name, label string, ok bool, err error) {
			return "triage", "sk-...9f", account == "acme" && hash == "h1", nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	admin := router.Actor{Principal: router.Principal{Account: "acme", Management: true}}
	g, err := service.Create(ctx, admin, "", guardrails.Patch{
		Name:     router.To("no addresses of customers"),
		Builtins: router.To([]content.Filter{{Slug: content.Email, Action: content.Redact}}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := service.Assign(ctx, admin, g.ID, guardrails.KeyKind, []string{"h1"}); err != nil {
		fmt.Println(err)
		return
	}

	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: echo{}}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge"}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := router.New(router.Config{Catalog: catalog, Interceptors: []router.Interceptor{service.Intercept}})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := &router.Call{
		Principal: router.Principal{Account: "acme", KeyHash: "h1"},
		Request: &systemone.Request{
			Model: "acme/judge", State: systemone.Text("From bob@example.com: where is my parcel?"),
			Questions: []systemone.Question{{Name: "late", Kind: systemone.Noul, Instructions: systemone.Text("Is it late?")}},
		},
	}
	if _, err := engine.Decide(ctx, call); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(call.Report.Pipeline[0].Summary)
	// Output:
	// the upstream sees "From [EMAIL]: where is my parcel?"
	// Email address: 1 redacted
}

// echo prints the state that is sent upstream, and answers yes.
type echo struct{}

func (echo) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	fmt.Println("the upstream sees", string(a.Request.State))
	return router.Reply{Answers: systemone.Answers{{Name: a.Request.Questions[0].Name, Kind: systemone.Noul, Noul: 1}}}, nil
}

// The strictest rule of each kind applies, whichever guardrail has it.
func ExampleMerge() {
	policy := guardrails.Merge(
		&guardrails.Guardrail{AllowedModels: []string{"typesafe/typesafe-one-mini"}, Limit: new(50 * router.Dollar), Reset: router.Monthly},
		nil,
		&guardrails.Guardrail{IgnoredProviders: []string{"ant"}, Builtins: []content.Filter{{Slug: content.Phone, Action: content.Block}}},
	)
	for _, rule := range policy.Rules {
		fmt.Println(rule.Source, rule.AllowedModels, rule.IgnoredProviders)
	}
	fmt.Println(policy.Budgets[0].Refusal.Message)
	fmt.Println(policy.Filters[0].Scope, policy.Filters[0].Action)
	// Output:
	// workspace [typesafe/typesafe-one-mini] []
	// key [] [ant]
	// Guardrail monthly budget of $50.00 exceeded
	// key block
}
