package systemonehttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// A client of a local server, with a ready profile.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.URL.Path, string(body))
		_, _ = io.WriteString(w, `{"model":"tev:2b","answers":{"refund":{"type":"noul","noul":0.97}},"usage":{"input_tokens":41,"output_tokens":1}}`)
	}))
	defer server.Close()

	client, err := systemonehttp.New(systemonehttp.Config{BaseURL: server.URL + "/v1", Profile: systemonehttp.Ollama()})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Decide(context.Background(), router.Attempt{
		Model: "tev:2b",
		Request: &systemone.Request{
			State: systemone.Text("Paid twice for May."),
			Questions: []systemone.Question{
				{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("Is money asked back?")},
			},
		},
	})
	fmt.Println(reply.Answers[0].Name, reply.Answers[0].Noul, reply.Usage.InputTokens, err)
	// Output:
	// /v1/systemone {"model":"tev:2b","state":"Paid twice for May.","questions":{"refund":{"type":"noul","instructions":"Is money asked back?"}}}
	// refund 0.97 41 <nil>
}

// An upstream that no ready profile fits: another path, the key in a header of
// its own, replies in an envelope.
func ExampleProfile() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("X-Api-Key"))
		_, _ = io.WriteString(w, `{"ok":true,"data":{"answers":{"refund":{"type":"noul","noul":0.9}}}}`)
	}))
	defer server.Close()

	profile := systemonehttp.Canonical()
	profile.Path = "/decide/{model}"
	profile.Auth, profile.KeyHeader = systemonehttp.KeyInHeader, "X-Api-Key"
	profile.Envelope = systemonehttp.Envelope{Result: "data", Success: "ok"}
	client, err := systemonehttp.New(systemonehttp.Config{BaseURL: server.URL, APIKey: "key-1", Profile: profile})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := client.Decide(context.Background(), router.Attempt{
		Model: "judge-1",
		Request: &systemone.Request{
			State:     systemone.Text("Paid twice for May."),
			Questions: []systemone.Question{{Name: "refund", Kind: systemone.Noul, Instructions: systemone.Text("?")}},
		},
	})
	fmt.Println(reply.Answers[0].Noul, err)
	// Output:
	// /decide/judge-1 key-1
	// 0.9 <nil>
}

// A catalog of one upstream: the client states the endpoint's limits and tolerance,
// and the program its price.
func ExampleClient_Endpoint() {
	client, err := systemonehttp.New(systemonehttp.Config{
		BaseURL: "https://api.typesafe.ai/v1", APIKey: "sk-1", Profile: systemonehttp.TypeSafe(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := client.Endpoint("typesafe", "typesafe/tev", "tev-1")
	endpoint.Pricing = router.Pricing{Prompt: router.Dollars("0.042")} // per million tokens
	catalog, err := router.Single(client, endpoint)
	if err != nil {
		fmt.Println(err)
		return
	}
	e := catalog.Endpoints()[0]
	fmt.Println(e.Limits.Options, "options,", e.ContextLength, "tokens, rounded to", e.Tolerance.Rounding)
	// Output: 255 options, 32000 tokens, rounded to 0.01
}

func ExampleProfileByName() {
	p, ok := systemonehttp.ProfileByName("cloudflare-clef")
	fmt.Println(p.Path, p.Limits.Questions, ok)
	// Output: /ai/run/{model} 64 true
}
