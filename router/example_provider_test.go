package router_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// even is a provider of a program's own: every answer is as likely as the others.
type even struct{}

func (even) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	if err := ctx.Err(); err != nil {
		failed := &router.UpstreamError{Class: router.ProviderUnavailable, Err: err}
		if errors.Is(err, context.DeadlineExceeded) {
			failed.Class = router.Timeout
		}
		return router.Reply{}, failed
	}
	var reply router.Reply
	for _, q := range a.Request.Questions {
		answer := systemone.Answer{Name: q.Name, Kind: q.Kind}
		switch q.Kind {
		case systemone.Noul:
			answer.Noul = 0.5
		case systemone.Choice:
			answer.Choice = q.Options[0].Name
			for _, o := range q.Options {
				answer.Probabilities = append(answer.Probabilities, systemone.Probability{Label: o.Name, P: 1 / float64(len(q.Options))})
			}
		case systemone.Score: // the label of a level is its index
			answer.Score = float64(len(q.Levels)-1) / 2
			for i := range q.Levels {
				answer.Probabilities = append(answer.Probabilities, systemone.Probability{Label: strconv.Itoa(i), P: 1 / float64(len(q.Levels))})
			}
		}
		reply.Answers = append(reply.Answers, answer)
	}
	reply.Usage = systemone.Usage{InputTokens: int64(len(a.Request.State)), OutputTokens: int64(len(reply.Answers))}
	return reply, nil
}

// A provider of a program's own, at a price. The suite that it passes is in
// router/routertest.
func ExampleProvider() {
	catalog, err := router.Single(even{}, router.Endpoint{
		Provider: "acme", Model: "acme/even",
		Pricing: router.Pricing{Prompt: router.Dollars("0.5"), Request: router.Dollars("0.001")}, // prompt: per million tokens
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := router.New(router.Config{Catalog: catalog})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := r.Decide(context.Background(), &router.Call{Request: &systemone.Request{
		Model: "acme/even",
		State: systemone.Text("heads or tails?"),
		Questions: []systemone.Question{{
			Name: "coin", Kind: systemone.Choice, Instructions: systemone.Text("How does it fall?"),
			Options: []systemone.Option{{Name: "heads"}, {Name: "tails"}},
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	coin := result.Response.Answers[0]
	fmt.Println(coin.Choice, coin.P("heads"), coin.Confidence)
	fmt.Println(result.Response.Usage.InputTokens, "tokens for", result.Cost, "dollars")
	// Output:
	// heads 0.5 0
	// 17 tokens for 0.0010085 dollars
}
