package ask_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/similarity"
)

// embedded returns a router with the embedded model: no key, no network.
func embedded() (*router.Router, error) {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		return nil, err
	}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: similarity.Model, Permaslug: similarity.Permaslug}},
		[]router.ProviderInfo{{Slug: "embedded", Client: model}},
		[]router.Endpoint{model.Endpoint("embedded")},
	)
	if err != nil {
		return nil, err
	}
	return router.New(router.Config{Catalog: catalog})
}

// scripted returns a router in front of a model that says what the steps say.
func scripted(steps ...routertest.Step) (*router.Router, error) {
	script := &routertest.Script{} // in a test: routertest.NewScript(t, steps...)
	script.Add(steps...)
	catalog, err := routertest.Catalog(script)
	if err != nil {
		return nil, err
	}
	return router.New(router.Config{Catalog: catalog})
}

// The struct is the sheet of questions and the answer. The embedded model answers
// here; any other takes its place in the catalog.
func Example() {
	ctx := context.Background()
	rt, err := embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	type Wish struct {
		Desk   ask.Choice[string] `ask:"desk" q:"Which team should take this?" options:"billing=charges and refunds|technical=something is broken"`
		Refund ask.Noul           `ask:"refund" q:"Does the customer want money back?" yes:"asks for money back" no:"asks for help" default:"no"`
	}
	v, res, err := ask.Ask[Wish](ctx, rt, similarity.Model, "I was charged twice for May. Please send one payment back.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Desk.Else(0.6, "a person"), v.Refund.Value, "by", res.Response.Provider)
	// Output:
	// billing true by embedded
}

// The state is a string or any value that has JSON; what else a call can say is set
// by functions.
func ExampleAsk() {
	rt, err := scripted(routertest.Step{Answers: []routertest.Answer{routertest.Choose("desk", "technical", 0.75)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ticket := struct {
		Subject string   `json:"subject"`
		Lines   []string `json:"lines"`
	}{"It broke", []string{"Since today the export is empty."}}
	v, _, err := ask.Ask[Verdict](context.Background(), rt, routertest.Model, ticket, func(c *router.Call) {
		c.RequestID, c.Request.SessionID = "ticket-20931", "customer-7"
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Desk.Value == Technical, v.Desk.P(Technical), v.Desk.Margin())
	// Output: true 0.75 0.5
}

// A default is the value where no model answers, and the answer says so.
func ExampleAsk_defaults() {
	rt, err := scripted(routertest.Step{Err: routertest.Fail(503, 0)}, routertest.Step{Err: routertest.Fail(503, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	type safe struct {
		Safe ask.Noul `ask:"safe" q:"Is it safe to run this?" default:"no"`
	}
	v, _, err := ask.Ask[safe](context.Background(), rt, routertest.Model, "rm -r /")
	fmt.Println(v.Safe.Value, v.Safe.Defaulted, v.Safe.Err, err)
	_, _, err = ask.Ask[Verdict](context.Background(), rt, routertest.Model, "It broke.") // has no defaults
	fmt.Println(err)
	// Output:
	// false true router: no_capacity: router: upstream no_capacity (status 503) <nil>
	// router: no_capacity: router: upstream no_capacity (status 503)
}

// A mistake in a sheet is an error that names the field.
func ExampleNewSheet() {
	type Bad struct {
		Desk ask.Choice[string] `ask:"desk" q:"Which team?"`
	}
	_, err := ask.NewSheet(Bad{})
	fmt.Println(err, errors.Is(err, ask.ErrSheet))
	// Output: ask: invalid questions: Bad.Desk: a Choice needs options true
}

// Options that are known at run time only.
func ExampleNewChoice() {
	rt, err := embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	shelf := ask.Question{Name: "shelf", Instructions: "Where does this book stand?"}
	for _, name := range []string{"cooking", "travel", "gardening"} {
		shelf.Options = append(shelf.Options, ask.Option{Name: name})
	}
	sheet, err := ask.NewSheet(ask.NewChoice[string](shelf))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _, err := sheet.Ask(context.Background(), rt, similarity.Model, "A hundred soups and stews from Italian kitchens")
	fmt.Println(answer.Value, err)
	// Output: cooking <nil>
}

// Structured guidance: several short phrases for each side.
func ExampleNewNoul() {
	rt, err := embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	sheet, err := ask.NewSheet(ask.NewNoul(ask.Question{
		Name: "refund", Instructions: "Does the customer want money back?",
		Yes: []string{"please refund me", "I want my money back"},
		No:  []string{"how does it work", "an error, it is broken"},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	refund, _, err := sheet.Ask(context.Background(), rt, similarity.Model, "Please return what I paid.")
	fmt.Println(refund.Value, err)
	// Output: true <nil>
}

// A level is sent with its guidance and known by its name.
func ExampleNewScore() {
	rt, err := scripted(routertest.Step{Answers: []routertest.Answer{routertest.Rate("risk", 1, 1)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	sheet, err := ask.NewSheet(ask.NewScore(ask.Question{
		Name: "risk", Instructions: "How risky is this change?",
		Levels: []ask.Option{{Name: "low", Guidance: "texts and tests"}, {Name: "high", Guidance: "tables and money"}},
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	risk, _, err := sheet.Ask(context.Background(), rt, routertest.Model, "Drop the column prices.old.")
	fmt.Println(risk.Level, risk.Value, err)
	// Output: high 1 <nil>
}

func ExampleChoice_Else() {
	rt, err := scripted(routertest.Step{Answers: []routertest.Answer{routertest.Choose("desk", "billing", 0.75)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, _, err := ask.Ask[Verdict](context.Background(), rt, routertest.Model, "It broke.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Desk.Confidence, v.Desk.Else(0.4, "a person"), v.Desk.Else(0.6, "a person"))
	// Output: 0.5 billing a person
}

func ExampleScore() {
	rt, err := scripted(routertest.Step{Answers: []routertest.Answer{routertest.Rate("heat", 2, 0.5)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, _, err := ask.Ask[Verdict](context.Background(), rt, routertest.Model, "It broke.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v.Heat.Level, v.Heat.Value, v.Heat.P("calm"))
	// Output: furious 1.25 0.25
}
