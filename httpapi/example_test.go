package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// yes is a provider that says yes.
type yes struct{}

func (yes) Decide(_ context.Context, a router.Attempt) (router.Reply, error) {
	reply := router.Reply{Usage: systemone.Usage{InputTokens: 14, OutputTokens: 1}}
	for _, q := range a.Request.Questions {
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: systemone.Noul, Noul: 0.97})
	}
	return reply, nil
}

// newExampleRouter serves one model at one provider.
func newExampleRouter() (*router.Router, error) {
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "acme", Name: "Acme", Client: yes{}}},
		[]router.Endpoint{{Provider: "acme", Model: "acme/judge", UpstreamModel: "judge"}},
	)
	if err != nil {
		return nil, err
	}
	return router.New(router.Config{
		Catalog: catalog,
		NewID:   func() uuid.UUID { return uuid.UUID{15: 1} }, // so that the output is always the same
		Now:     func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	})
}

func ExampleNew() {
	rt, err := newExampleRouter()
	if err != nil {
		fmt.Println(err)
		return
	}
	// A server that strangers can reach sets Keys instead of Open.
	api, err := httpapi.New(httpapi.Config{Router: rt, Open: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Any mux and any prefix will do; native clients get a mount of their own.
	mux := http.NewServeMux()
	mux.Handle("/decide/api/v1/", http.StripPrefix("/decide/api/v1", api))
	mux.Handle("/v1/", http.StripPrefix("/v1", api.Native()))

	for _, path := range []string{"/decide/api/v1/providers", "/v1/nothing"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 200 {"data":[{"name":"Acme","slug":"acme","privacy_policy_url":null,"terms_of_service_url":null,"status_page_url":null}]}
	// 404 {"error":{"code":404,"message":"Resource not found","metadata":{"error_type":"not_found"}},"detail":{"error_type":"not_found","message":"Resource not found"}}
}

func ExampleHandler_ServeHTTP() {
	rt, err := newExampleRouter()
	if err != nil {
		fmt.Println(err)
		return
	}
	api, err := httpapi.New(httpapi.Config{Router: rt, Open: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	// No listener is needed to ask a handler.
	body := `{"model":"judge","state":"Paid twice for May","questions":{"refund":{"type":"noul","instructions":"Money back?"}}}`
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/systemone", strings.NewReader(body)))
	fmt.Println(w.Code, w.Body)
	// Output:
	// 200 {"id":"gen-dec-00000000000000000000000000000001","model":"acme/judge-20260901","provider":"Acme","answers":{"refund":{"type":"noul","noul":0.97}},"usage":{"input_tokens":14,"output_tokens":1,"cost":0}}
}

func ExampleStatus() {
	err := fmt.Errorf("while deciding: %w", &router.Error{Class: router.RateLimitExceeded})
	fmt.Println(httpapi.Status(err), httpapi.Status(nil))
	// Output: 429 200
}
