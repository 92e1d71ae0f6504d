package openaidecisions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/systemone"
)

// A question of the System One form, asked in the Decisions form.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.Path, string(body))
		_, _ = io.WriteString(w, `{"model":"gpt-6-luna","answers":[{"type":"predicate","name":null,"probability":0.97}]}`)
	}))
	defer server.Close()

	client, err := openaidecisions.New(openaidecisions.Config{BaseURL: server.URL + "/v1", APIKey: "sk-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Decide(context.Background(), router.Attempt{
		Model: "gpt-6-luna",
		Request: &systemone.Request{
			State: systemone.Text("Paid twice for May."),
			Questions: []systemone.Question{{
				Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?"),
				True: systemone.Text("an explicit wish"), False: json.RawMessage(`{"or":"nothing of the kind"}`),
			}},
		},
	})
	fmt.Println(reply.Answers[0].Name, reply.Answers[0].Noul, err)
	// Output:
	// /v1/decisions {"model":"gpt-6-luna","input":"Paid twice for May.","questions":[{"type":"predicate","instructions":"Is money asked back?\n\nCriteria for true:\nan explicit wish\n\nCriteria for false:\n{\"or\":\"nothing of the kind\"}"}]}
	// refund 0.97 <nil>
}

// A catalog of one upstream: the client states the endpoint's limits and tolerance,
// and the program its price.
func ExampleClient_Endpoint() {
	client, err := openaidecisions.New(openaidecisions.Config{BaseURL: "https://api.openai.com/v1", APIKey: "sk-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := client.Endpoint("openai", "openai/gpt-6-luna", "gpt-6-luna")
	endpoint.Pricing = router.Pricing{Prompt: router.Dollars("0.25"), Completion: router.Dollars("2")} // per million tokens
	catalog, err := router.Single(client, endpoint)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := catalog.Endpoints()[0]
	fmt.Println(e.Limits.Questions, "questions, rounded to", e.Tolerance.Rounding)
	// Output: 400 questions, rounded to 0.01
}
