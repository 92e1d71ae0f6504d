package systemone_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/systemone"
)

func ExampleDecoder_Decode() {
	request, err := systemone.Decoder{}.Decode([]byte(`{
		"model": "acme/judge",
		"state": "I was charged twice, please reverse one charge.",
		"questions": {
			"refund": {"type": "noul", "instructions": "Is money asked back?"},
			"desk": {"type": "choice", "instructions": "Who handles it?", "criteria": {"tech": null, "billing": "charges"}}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range request.Questions {
		fmt.Println(q.Name, q.Kind, len(q.Options))
	}
	// Output:
	// refund noul 0
	// desk choice 2
}

func ExampleDecoder_Decode_problems() {
	_, err := systemone.Decoder{}.Decode([]byte(`{
		"model": "acme/judge",
		"state": 5,
		"questions": {"heat": {"type": "score", "instructions": "How upset?", "criteria": []}},
		"provider": {"orderr": ["ant"]}
	}`))
	if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok {
		for _, issue := range invalid.Issues {
			fmt.Printf("%s: %s\n", issue.Path, issue.Message)
		}
	}
	// Output:
	// provider.orderr: is not a known member
	// state: must be a string, an object or an array
	// questions.heat.criteria: must have at least one level
}

func ExampleRequest_Validate() {
	request := systemone.Request{
		Model: "acme/judge",
		State: systemone.Text("I was charged twice."),
		Questions: []systemone.Question{{
			Name: "heat", Kind: systemone.Score, Instructions: systemone.Text("How upset?"),
			Levels: []json.RawMessage{systemone.Text("calm"), nil},
		}},
	}
	fmt.Println(request.Validate(systemone.Limits{}))
	// Output:
	// systemone: invalid request: questions.heat.criteria.1: must be a string, an object or an array
}

func ExampleRepair() {
	request := &systemone.Request{Questions: []systemone.Question{{
		Name: "desk", Kind: systemone.Choice,
		Options: []systemone.Option{{Name: "tech"}, {Name: "billing"}, {Name: "sales"}},
	}}}
	// The upstream rounds to two decimals, so its probabilities sum to 0.99.
	reply, err := systemone.DecodeResponse([]byte(`{"answers": {"desk": {"type": "choice", "choice": "billing",
		"probabilities": {"billing": 0.66, "sales": 0.11, "tech": 0.22}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(systemone.Check(request, reply.Answers, systemone.Tolerance{}))
	answers, err := systemone.Repair(request, reply.Answers, systemone.Tolerance{Rounding: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range answers[0].Probabilities {
		fmt.Printf("%s %.3f\n", p.Label, p.P)
	}
	fmt.Printf("%s, confidence %.3f\n", answers[0].Choice, answers[0].Confidence)
	// Output:
	// systemone: bad answer: desk: probabilities do not sum to 1, but would pass as rounded to 0.01: the endpoint's Tolerance.Rounding states full precision
	// tech 0.222
	// billing 0.667
	// sales 0.111
	// billing, confidence 0.500
}

func ExampleUnwrapParts() {
	state := json.RawMessage(`[{"type": "text", "text": "the mail"}, {"type": "json", "value": {"plan": "team"}}]`)
	fmt.Println(string(systemone.UnwrapParts(state)))
	// Output: ["the mail",{"plan": "team"}]
}

func ExampleResponse_AppendJSON() {
	response := systemone.Response{
		Model:   "acme/judge-20260901",
		Answers: systemone.Answers{{Name: "refund", Kind: systemone.Noul, Noul: 0.97}},
		Usage:   systemone.Usage{InputTokens: 310, OutputTokens: 58, Cost: "0.00001302"},
	}
	fmt.Println(string(response.AppendJSON(nil)))
	// Output: {"model":"acme/judge-20260901","answers":{"refund":{"type":"noul","noul":0.97}},"usage":{"input_tokens":310,"output_tokens":58,"cost":0.00001302}}
}

func ExampleJSON() {
	type ticket struct {
		Text  string `json:"text"`
		Seats int    `json:"seats"`
	}
	state, err := systemone.JSON(ticket{Text: "I was charged twice.", Seats: 14})
	fmt.Println(string(state), err)
	_, err = systemone.JSON(14)
	fmt.Println(err)
	// Output:
	// {"text":"I was charged twice.","seats":14} <nil>
	// systemone: invalid request: a state or guidance must be a string, an object or an array
}

// Conditions are literals: new makes the pointer of a bound.
func ExampleCondition() {
	request := systemone.Request{Model: "acme/judge", Models: []systemone.Entry{{
		Model: "acme/sage",
		When: &systemone.Condition{Any: []systemone.Condition{
			{Question: "desk", ConfidenceBelow: new(0.6)},
			{ProbabilityBetween: &[2]float64{0.25, 0.75}},
		}},
	}}}
	entry, err := request.Models[0].MarshalJSON()
	fmt.Println(string(entry), err)
	// Output: {"model":"acme/sage","when":{"any":[{"question":"desk","confidenceBelow":0.6},{"probabilityBetween":[0.25,0.75]}]}} <nil>
}

func ExampleAnswers_Get() {
	answers := systemone.Answers{{
		Name: "desk", Kind: systemone.Choice, Choice: "billing",
		Probabilities: []systemone.Probability{{Label: "billing", P: 0.75}, {Label: "tech", P: 0.25}},
	}}
	if desk, ok := answers.Get("desk"); ok {
		fmt.Println(desk.Choice, desk.P("tech"))
	}
	// Output: billing 0.25
}
