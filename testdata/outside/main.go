// Outside embeds a whole service, asks it in process and over both mounts, and
// stops it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/ask"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	service := embed()
	var background sync.WaitGroup
	background.Go(func() { service.Run(ctx) })
	server := httptest.NewServer(service.Handler)

	inProcess(ctx, service)
	typed(ctx, service)
	key := newKey(ctx, service)
	for _, mount := range []string{"/api/v1", "/v1"} {
		overHTTP(ctx, server.URL, mount+"/systemone", key)
	}

	server.Close()
	stop()
	background.Wait()
	fmt.Println("stopped")
}

// embed makes everything in ten lines.
func embed() *signalbox.Service {
	model, err := similarity.New(similarity.Config{})
	must(err)
	catalog, err := router.Single(model, model.Endpoint("embedded"))
	must(err)
	service, err := signalbox.New(signalbox.Config{Catalog: catalog})
	must(err)
	return service
}

// inProcess asks as the program itself.
func inProcess(ctx context.Context, service *signalbox.Service) {
	res, err := service.Decide(ctx, &router.Call{Request: &systemone.Request{
		Model: similarity.Model,
		State: systemone.Text("I was charged twice for May. Please send one payment back."),
		Questions: []systemone.Question{{
			Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team should take this?"),
			Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges, payments and refunds")},
				{Name: "technical", Guidance: systemone.Text("something is broken")},
			},
		}},
	}})
	must(err)
	fmt.Println("in process:", res.Response.Answers[0].Choice)
}

// typed asks with a struct.
func typed(ctx context.Context, service *signalbox.Service) {
	type ticket struct {
		Desk ask.Choice[string] `ask:"desk" q:"Which team should take this?" options:"billing=charges and refunds|technical=something is broken"`
	}
	v, _, err := ask.Ask[ticket](ctx, service, similarity.Model, "I was charged twice for May.")
	must(err)
	fmt.Println("typed:", v.Desk.Value)
}

// newKey makes an account with an inference key.
func newKey(ctx context.Context, service *signalbox.Service) router.Secret {
	_, err := service.Organization.CreateAccount(ctx, router.Actor{}, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ada", Email: "ada@example.org"},
	})
	must(err)
	by := router.Actor{Principal: router.Principal{Account: "acme"}}
	_, secret, err := service.Keys.Create(ctx, by, keys.Key{Name: "first", Creator: "ada"})
	must(err)
	return secret
}

func overHTTP(ctx context.Context, base, path string, key router.Secret) {
	body := `{"model":"` + similarity.Model + `","state":"I was charged twice for May.","questions":{"desk":{"type":"choice",` +
		`"instructions":"Which team should take this?","criteria":{"billing":"charges, payments and refunds","technical":"something is broken"}}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	must(err)
	r.Header.Set("Authorization", "Bearer "+string(key))
	resp, err := http.DefaultClient.Do(r)
	must(err)
	defer resp.Body.Close()
	var reply struct {
		Answers struct {
			Desk struct {
				Choice string `json:"choice"`
			} `json:"desk"`
		} `json:"answers"`
	}
	must(json.NewDecoder(resp.Body).Decode(&reply))
	fmt.Printf("%s: %d %s\n", path, resp.StatusCode, reply.Answers.Desk.Choice)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
