package presets_test

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// A preset is made from the body of a chat request. The interceptor puts its model
// into requests that name it.
func ExampleService_Intercept() {
	ctx := context.Background()
	s, err := presets.New(presets.Config{Store: memory.New().Presets})
	if err != nil {
		fmt.Println(err)
		return
	}
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	body := `{"model":"acme/judge","messages":[{"role":"user","content":"Is this spam?"}],"provider":{"sort":"price"}}`
	preset, err := s.Create(ctx, by, "", "spam", presets.ChatCompletions, []byte(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(preset.Slug, preset.Designated.Number)
	decide := s.Intercept(func(_ context.Context, c *router.Call) (*router.Result, error) {
		fmt.Println(c.Request.Model)
		return &router.Result{}, nil
	})
	call := &router.Call{Request: &systemone.Request{Model: "@preset/spam"}, Principal: by.Principal}
	if _, err := decide(ctx, call); err != nil {
		fmt.Println(err)
	}
	// Output:
	// spam 1
	// acme/judge
}
