package similarity_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

func ExampleNew() {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Decide(context.Background(), router.Attempt{Request: &systemone.Request{
		State: json.RawMessage(`{"subject": "Charged twice!",
			"body": "My card was charged two times for order 1042. Please give me my money back, this is urgent."}`),
		Questions: []systemone.Question{
			{Name: "team", Kind: systemone.Choice, Options: []systemone.Option{
				{Name: "billing", Guidance: json.RawMessage(`["charges, invoices and payments", "I want a refund"]`)},
				{Name: "shipping", Guidance: json.RawMessage(`"where is my parcel, late delivery"`)},
				{Name: "technical_problem"}, // no guidance, so its name describes it
			}},
			{
				Name: "refund", Kind: systemone.Noul,
				True:  json.RawMessage(`"the customer wants money back"`),
				False: json.RawMessage(`"the customer asks for information"`),
			},
			{Name: "parcel", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is this about a lost parcel?"`)},
			{Name: "honest", Kind: systemone.Noul, Instructions: json.RawMessage(`"Is the customer honest?"`)},
			{Name: "urgency", Kind: systemone.Score, Levels: []json.RawMessage{
				json.RawMessage(`"no hurry, whenever you find the time"`),
				json.RawMessage(`"soon, within some days"`),
				json.RawMessage(`"urgent, immediately, right now"`),
			}},
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range reply.Answers {
		switch a.Kind {
		case systemone.Noul:
			fmt.Printf("%s: %.1f\n", a.Name, a.Noul)
		case systemone.Choice:
			fmt.Printf("%s: %s (confidence %.1f)\n", a.Name, a.Choice, a.Confidence)
		case systemone.Score:
			fmt.Printf("%s: %.1f\n", a.Name, a.Score)
		}
	}
	// Output:
	// team: billing (confidence 1.0)
	// refund: 1.0
	// parcel: 0.4
	// honest: 0.5
	// urgency: 1.6
}

// The embedded model can be the only model of a router.
func ExampleProvider_Endpoint() {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := router.Single(model, model.Endpoint("embedded"))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := catalog.Endpoints()[0]
	fmt.Println(e.Model, e.ContextLength, "tokens,", e.Limits.Questions, "questions, last resort:", e.LastResort)
	// Output: signalbox/similarity-en-1 2048 tokens, 64 questions, last resort: true
}
