package ask_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

// ToolCall is what an agent wants to do, and what its user asked for.
type ToolCall struct {
	Task string `json:"task"`
	Tool string `json:"tool"`
	Args string `json:"args"`
}

// Gate is answered before a tool runs.
type Gate struct {
	Asked   ask.Noul `ask:"asked" q:"Is this call needed for the task?" yes:"the task needs it" no:"the task does not mention it"`
	Destroy ask.Noul `ask:"destroy" q:"Can the call destroy data or send it away?" yes:"deletes, overwrites, pays, publishes" no:"only reads"`
}

// allow reports whether the tool may run. It fails closed: an unsure model, no
// model within two seconds and a mistake in the sheet all refuse.
func allow(ctx context.Context, d ask.Decider, model string, call ToolCall) bool {
	gate, _, err := ask.Ask[Gate](ctx, d, model, call, func(c *router.Call) { c.Timeout = 2 * time.Second })
	if err != nil {
		return false
	}
	return gate.Asked.Else(0.8, false) && !gate.Destroy.Else(0.8, true)
}

func Example_gate() {
	say := func(asked, destroy float64) routertest.Step {
		return routertest.Step{Answers: []routertest.Answer{routertest.Yes("asked", asked), routertest.Yes("destroy", destroy)}}
	}
	rt, err := scripted(say(0.97, 0.02), say(0.97, 0.2), say(0.5, 0.02), routertest.Step{Err: routertest.Fail(503, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := ToolCall{Task: "Sum up the open invoices.", Tool: "sql", Args: "select sum(amount) from invoices where open"}
	for _, what := range []string{"sure", "perhaps destroys", "perhaps not asked", "no answer"} {
		fmt.Println(what+":", allow(context.Background(), rt, routertest.Model, call))
	}
	// Output:
	// sure: true
	// perhaps destroys: false
	// perhaps not asked: false
	// no answer: false
}

// Triage is asked of each ticket.
type Triage struct {
	Desk ask.Choice[string] `ask:"desk" q:"Which team should take this?" options:"billing=charges, payments and refunds|technical=an error, something is broken|sales=prices, discounts, questions before buying"`
	Rush ask.Score          `ask:"rush" q:"How urgent is it?" levels:"later=no hurry, whenever you find the time|soon=within some days|now=urgent, immediately"`
}

// sortTickets puts tickets into the queues of the teams. What the model is not sure of
// goes to a person.
func sortTickets(ctx context.Context, d ask.Decider, model string, tickets []string) error {
	sheet, err := ask.NewSheet(Triage{}) // checked once, for all tickets
	if err != nil {
		return err
	}
	for _, ticket := range tickets {
		v, _, err := sheet.Ask(ctx, d, model, ticket)
		if err != nil {
			return err
		}
		fmt.Printf("%-9s  %-5s  %s\n", v.Desk.Else(0.8, "a person"), v.Rush.Level, ticket)
	}
	return nil
}

func Example_triage() {
	rt, err := embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = sortTickets(context.Background(), rt, similarity.Model, []string{
		"My card was charged twice, I need the money back immediately!",
		"The export stops with an error since the update.",
		"Do you have a discount for schools? No hurry.",
		"Hello?",
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// billing    now    My card was charged twice, I need the money back immediately!
	// technical  now    The export stops with an error since the update.
	// sales      later  Do you have a discount for schools? No hurry.
	// a person   now    Hello?
}

// Moderation is asked of each comment.
type Moderation struct {
	Action ask.Choice[string] `ask:"action" q:"What should happen to this comment?" options:"publish=within the rules|review=a person must look|remove=insults, threatens or sells" default:"review"`
}

// Record is one line of the audit trail.
type Record struct {
	Call, Action string
	Defaulted    bool              `json:",omitempty"`
	Model        string            `json:",omitempty"`
	Answers      systemone.Answers // all probabilities
	Cost         router.USD
	Failed       []router.Class `json:",omitempty"` // attempts before the answer
}

// moderate decides on a comment and returns what is to be kept of it. Where the
// model is unsure, and where there is none, a person looks.
func moderate(ctx context.Context, d ask.Decider, model, comment string, set func(*router.Call)) (Record, error) {
	var call *router.Call
	keep := func(c *router.Call) { call = c } // for its report
	v, res, err := ask.Ask[Moderation](ctx, d, model, comment, set, keep)
	if err != nil {
		return Record{}, err
	}
	record := Record{
		Call: call.ID, Action: v.Action.Else(0.6, "review"), Defaulted: v.Action.Defaulted,
		Model: res.Response.Model, Answers: res.Response.Answers, Cost: res.Cost,
	}
	for attempt := range call.Report.Attempts() {
		if attempt.Class != "" {
			record.Failed = append(record.Failed, attempt.Class)
		}
	}
	return record, nil
}

func Example_moderate() {
	remove := routertest.Step{Answers: []routertest.Answer{routertest.Choose("action", "remove", 0.75)}}
	unsure := routertest.Step{Answers: []routertest.Answer{routertest.Choose("action", "publish", 0.5)}}
	rt, err := scripted(remove, unsure, routertest.Step{Err: routertest.Fail(503, 0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"comment-1", "comment-2", "comment-3"} {
		record, err := moderate(context.Background(), rt, routertest.Model, "Buy cheap watches!", func(c *router.Call) { c.ID = id })
		if err != nil {
			fmt.Println(err)
			return
		}
		line, err := json.Marshal(record)
		fmt.Println(string(line), err)
	}
	// Output:
	// {"Call":"comment-1","Action":"remove","Model":"acme/judge-20260901","Answers":{"action":{"type":"choice","choice":"remove","probabilities":{"publish":0.125,"review":0.125,"remove":0.75},"confidence":0.625}},"Cost":0} <nil>
	// {"Call":"comment-2","Action":"review","Model":"acme/judge-20260901","Answers":{"action":{"type":"choice","choice":"publish","probabilities":{"publish":0.5,"review":0.25,"remove":0.25},"confidence":0.25}},"Cost":0} <nil>
	// {"Call":"comment-3","Action":"review","Defaulted":true,"Answers":{},"Cost":0,"Failed":["no_capacity"]} <nil>
}

// Exchange is a question of a user and what an assistant said to it.
type Exchange struct {
	Question string `json:"question"`
	Source   string `json:"source"`
	Answer   string `json:"answer"`
}

// Grade is the rubric.
type Grade struct {
	Grounded ask.Noul  `ask:"grounded" q:"Does the source say everything that the answer says?" yes:"the source says all of it" no:"something is made up"`
	Help     ask.Score `ask:"help" q:"How far does the answer help?" levels:"useless=beside the question|partial=some of it|full=answers the question"`
}

// grade returns the expected number of answers that are grounded and full, and the
// answers that a person should look at.
func grade(ctx context.Context, d ask.Decider, model string, list []Exchange) (passes float64, unsure []Exchange, err error) {
	sheet, err := ask.NewSheet(Grade{})
	if err != nil {
		return 0, nil, err
	}
	for _, x := range list {
		g, _, err := sheet.Ask(ctx, d, model, x)
		if err != nil {
			return 0, nil, err
		}
		if g.Grounded.Confidence < 0.5 || g.Help.Confidence < 0.5 {
			unsure = append(unsure, x)
		}
		passes += g.Grounded.P(true) * g.Help.P("full")
	}
	return passes, unsure, nil
}

func Example_judge() {
	say := func(grounded float64, level int, p float64) routertest.Step {
		return routertest.Step{Answers: []routertest.Answer{routertest.Yes("grounded", grounded), routertest.Rate("help", level, p)}}
	}
	rt, err := scripted(say(1, 2, 1), say(0.1, 2, 0.9), say(0.6, 0, 0.8))
	if err != nil {
		fmt.Println(err)
		return
	}
	source := "Refunds take five days."
	passes, unsure, err := grade(context.Background(), rt, routertest.Model, []Exchange{
		{"How long does a refund take?", source, "Five days."},
		{"How long does a refund take?", source, "Five days, on weekends two."},
		{"How long does a refund take?", source, "It depends."},
	})
	fmt.Printf("%.2f of 3 pass, %d for a person, %v\n", passes, len(unsure), err)
	// Output: 1.15 of 3 pass, 1 for a person, <nil>
}
