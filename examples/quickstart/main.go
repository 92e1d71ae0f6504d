// Command quickstart makes one decision in process. It needs no server, no key and no
// network.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	// The embedded model. A catalog may have any number of router.Providers.
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		return err
	}
	catalog, err := router.Single(model, model.Endpoint("embedded"))
	if err != nil {
		return err
	}
	rt, err := router.New(router.Config{Catalog: catalog})
	if err != nil {
		return err
	}

	call := &router.Call{Request: &systemone.Request{
		Model: similarity.Model,
		State: systemone.Text("I was charged twice for May. Please send one payment back."),
		Questions: []systemone.Question{{
			Name:         "desk",
			Kind:         systemone.Choice,
			Instructions: systemone.Text("Which team should take this?"),
			Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges, payments and refunds")},
				{Name: "technical", Guidance: systemone.Text("something is broken")},
				{Name: "sales", Guidance: systemone.Text("questions before buying")},
			},
		}},
	}}
	result, err := rt.Decide(ctx, call)
	if err != nil {
		return err
	}
	desk := result.Response.Answers[0]
	_, _ = fmt.Fprintf(out, "%s (confidence %.1f), answered by %s for $%s\n",
		desk.Choice, desk.Confidence, result.Response.Provider, result.Cost)
	for _, c := range call.Report.Legs[0].Plan.Candidates {
		_, _ = fmt.Fprintf(out, "candidate %s: %s\n", c.Endpoint.Tag(), c.Reason)
	}
	return nil
}
