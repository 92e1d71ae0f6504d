package geminidecisions_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/geminidecisions"
	"github.com/signalbox/signalbox/systemone"
)

// A question of the System One form, asked in the Gemini form.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.Path, string(body))
		_, _ = io.WriteString(w, `{"answers":{"q0":{"type":"noul","noul":0.97,"confidence":0.97}}}`)
	}))
	defer server.Close()

	client, err := geminidecisions.New(geminidecisions.Config{BaseURL: server.URL + "/v1beta", APIKey: "AIza-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Decide(context.Background(), router.Attempt{
		Model: "gemini-decision-1",
		Request: &systemone.Request{
			State: systemone.Text("Paid twice for May."),
			Questions: []systemone.Question{{
				Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?"),
				True: systemone.Text("an explicit wish"), False: systemone.Text("no wish"),
			}},
		},
	})
	fmt.Println(reply.Answers[0].Name, reply.Answers[0].Noul, err)
	// Output:
	// /v1beta/decisions {"model":"gemini-decision-1","input":[{"type":"text","text":"Paid twice for May."}],"questions":{"q0":{"type":"noul","instructions":"Is money asked back?","criteria":{"true_description":"an explicit wish","false_description":"no wish"}}}}
	// refund 0.97 <nil>
}

// A catalog of one upstream: the client states what its endpoint can take and how
// exact it is, the program what it costs.
func ExampleClient_Endpoint() {
	client, err := geminidecisions.New(geminidecisions.Config{
		BaseURL: "https://generativelanguage.googleapis.com/v1beta", APIKey: "AIza-1",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := client.Endpoint("google", "google/gemini-decision-1", "gemini-decision-1")
	endpoint.Pricing = router.Pricing{Prompt: router.Dollars("0.10")} // per million tokens
	catalog, err := router.Single(client, endpoint)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := catalog.Endpoints()[0]
	fmt.Println(e.Limits.Questions, "questions of", e.Limits.Options, "options in", e.ContextLength, "tokens")
	// Output: 1000 questions of 255 options in 262144 tokens
}
