package organization_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// The workspace of an account may spend ten dollars a day. The interceptor puts the
// budget on each call, and the router's ledger enforces it.
func ExampleService_SetBudget() {
	ctx := context.Background()
	s, err := organization.New(organization.Config{Store: memory.New().Organization})
	if err != nil {
		fmt.Println(err)
		return
	}
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	account, err := s.CreateAccount(ctx, by, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ann", Email: "ann@acme.example"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := s.SetBudget(ctx, by, "default", router.Daily, 10*router.Dollar, router.Update[bool]{}); err != nil {
		fmt.Println(err)
		return
	}
	decide := s.Intercept(func(_ context.Context, c *router.Call) (*router.Result, error) {
		for _, b := range c.Budgets {
			fmt.Println(b.Interval, b.Max)
		}
		return &router.Result{}, nil
	})
	call := &router.Call{Principal: router.Principal{Account: account.ID, Workspace: account.DefaultWorkspace}}
	if _, err := decide(ctx, call); err != nil {
		fmt.Println(err)
	}
	// Output: daily 10
}
