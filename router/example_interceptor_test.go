package router_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// onlyShort refuses calls whose state has more than size bytes, and prints what the
// others cost.
func onlyShort(size int) router.Interceptor {
	return func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			if len(c.Request.State) > size {
				return nil, &router.Error{Class: router.PermissionDenied, Message: "The state is too long"}
			}
			result, err := next(ctx, c)
			if err == nil {
				fmt.Println("cost", result.Cost)
			}
			return result, err
		}
	}
}

// A policy of a program's own. A whole service takes it in one of the lists of
// signalbox.Interceptors.
func ExampleInterceptor() {
	catalog, err := routertest.Catalog(&routertest.Script{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{Catalog: catalog, Interceptors: []router.Interceptor{onlyShort(20)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, state := range []string{"Thank you!", "I was charged twice for May."} {
		_, err := r.Decide(context.Background(), &router.Call{Request: &systemone.Request{
			Model: routertest.Model,
			State: systemone.Text(state),
			Questions: []systemone.Question{
				{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is a refund due?")},
			},
		}})
		fmt.Println(err)
	}
	// Output:
	// cost 0
	// <nil>
	// router: permission_denied: The state is too long
}
