// Command cascade sorts tickets with two models: the embedded model is asked first, and
// a strong one only where that is unsure. It needs no key and no network, because the
// strong model is a script: it knows the right answers and charges for its tokens.
//
//	go run ./examples/cascade
//
// It prints who answered what, how much was escalated, and the fee beside that of asking
// the strong model everything.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

//go:embed tickets.jsonl
var ticketFile []byte

const (
	strongModel = "acme/strong"
	triageModel = "acme/triage"
)

func main() {
	if err := run(context.Background(), ticketFile, os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "cascade:", err)
		os.Exit(1)
	}
}

// ticket is a text with the right answers.
type ticket struct {
	Text   string `json:"text"`
	Desk   string `json:"desk"`
	Refund bool   `json:"refund"`
}

func run(ctx context.Context, file []byte, out io.Writer) error {
	tickets, err := read(file)
	if err != nil {
		return err
	}
	rt, err := newRouter(tickets)
	if err != nil {
		return err
	}
	var cascade, first, strong tally
	for _, t := range tickets {
		call, res, err := ask(ctx, rt, triageModel, t)
		if err != nil {
			return err
		}
		cascade.add(t, call, res)
		printTicket(out, t, call, res)
		for _, alone := range []struct {
			model string
			*tally
		}{{similarity.Model, &first}, {strongModel, &strong}} {
			call, res, err := ask(ctx, rt, alone.model, t)
			if err != nil {
				return err
			}
			alone.add(t, call, res)
		}
	}
	cascade.print(out, first, strong)
	return nil
}

func read(file []byte) (list []ticket, err error) {
	for d := json.NewDecoder(bytes.NewReader(file)); ; {
		var t ticket
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
}

// newRouter returns a router of three models. The third is made of the others.
func newRouter(tickets []ticket) (*router.Router, error) {
	embedded, err := similarity.New(similarity.Config{})
	if err != nil {
		return nil, err
	}
	catalog, err := router.NewCatalog(
		[]router.Model{
			{ID: similarity.Model, Permaslug: similarity.Permaslug},
			{ID: strongModel, Permaslug: strongModel + "-20261122"},
			{ID: triageModel, Permaslug: triageModel + "-20261122", Stages: []systemone.Entry{
				{Model: similarity.Model},
				{Model: strongModel, When: similarity.Unsure()},
			}},
		},
		[]router.ProviderInfo{
			{Slug: "embedded", Client: embedded},
			{Slug: "acme", Client: scripted(tickets)},
		},
		[]router.Endpoint{
			embedded.Endpoint("embedded"),
			{Provider: "acme", Model: strongModel, Pricing: router.Pricing{Prompt: router.Dollars("2")}},
		},
	)
	if err != nil {
		return nil, err
	}
	return router.New(router.Config{Catalog: catalog})
}

// ask asks a model which desk should take a ticket, and whether money is wanted back.
func ask(ctx context.Context, rt *router.Router, model string, t ticket) (*router.Call, *router.Result, error) {
	call := &router.Call{Request: &systemone.Request{
		Model: model,
		State: systemone.Text(t.Text),
		Questions: []systemone.Question{
			{
				Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team should take this?"),
				Options: []systemone.Option{
					{Name: "billing", Guidance: phrases("charges, payments and refunds", "an invoice", "money was taken from my card")},
					{Name: "technical", Guidance: phrases("something is broken", "an error message", "the app does not work")},
					{Name: "sales", Guidance: phrases("questions before buying", "prices and plans", "what does it cost")},
				},
			},
			{
				Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Does the customer want money back?"),
				True:  phrases("wants a refund, money back", "please send the payment back"),
				False: phrases("does not ask for money", "reports a problem", "asks a question"),
			},
		},
	}}
	res, err := rt.Decide(ctx, call)
	return call, res, err
}

// phrases describes an answer. The embedded model does better with several short
// phrases.
func phrases(list ...string) json.RawMessage {
	text, err := json.Marshal(list)
	if err != nil {
		return nil // cannot happen: texts are always valid JSON
	}
	return text
}
