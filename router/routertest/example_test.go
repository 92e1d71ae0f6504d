package routertest_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// A program's test: the upstream is down at first, and answers then.
func ExampleScript() {
	script := routertest.NewScript(routertest.Step{Err: routertest.Fail(http.StatusBadGateway, 0)})
	catalog, err := routertest.Catalog(script)
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := router.New(router.Config{Catalog: catalog})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		_, err := rt.Decide(context.Background(), &router.Call{Request: &systemone.Request{
			Model:     routertest.Model,
			State:     systemone.Text("Paid twice for May."),
			Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?")}},
		}})
		fmt.Println("answered:", err == nil)
	}
	fmt.Println(len(script.Attempts()), "attempts,", script.Left(), "steps left")
	// Output:
	// answered: false
	// answered: true
	// 2 attempts, 0 steps left
}

// What a status means to the router.
func ExampleFail() {
	fmt.Println(routertest.Fail(http.StatusTooManyRequests, 0))
	fmt.Println(routertest.Fail(529, 0))
	// Output:
	// router: upstream rate_limit_exceeded (status 429)
	// router: upstream provider_overloaded (status 529)
}
