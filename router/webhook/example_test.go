package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/router/webhook"
)

// How a service tells an operator's system what happens.
func Example() {
	model, err := similarity.New(similarity.Config{}) // or any other router.Provider
	if err != nil {
		panic(err)
	}
	catalog, err := router.Single(model, model.Endpoint("embedded"))
	if err != nil {
		panic(err)
	}
	secrets := []router.Secret{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="} // 24 to 64 random bytes
	hook, err := webhook.New(webhook.Config{URL: "https://ops.example.com/signalbox", Secrets: secrets})
	if err != nil {
		panic(err)
	}
	service, err := signalbox.New(signalbox.Config{
		Catalog: catalog,
		Hooks:   hooks.Config{Receivers: []hooks.Receiver{{Name: "ops", Handler: hook}}},
	})
	if err != nil {
		panic(err)
	}
	// go service.Run(ctx) delivers the events.
	fmt.Println(service.Hooks.Counts())
	// Output: [{ops 0 0 0 0}]
}

// How a receiver checks what it is sent.
func ExampleVerify() {
	secrets := []router.Secret{"whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
	receive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = webhook.Verify(secrets, r.Header, body, time.Now())
		}
		if errors.Is(err, webhook.ErrSignature) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Println(r.Header.Get(webhook.HeaderID), err)
	}
	server := httptest.NewServer(http.HandlerFunc(receive))
	defer server.Close()
	hook, err := webhook.New(webhook.Config{URL: server.URL, Secrets: secrets, Private: true})
	if err != nil {
		panic(err)
	}
	event := hooks.Event{ID: "evt_1", At: time.Now(), Data: hooks.Change{Action: "create", Kind: "key"}}
	if err := hook.Handle(context.Background(), event); err != nil {
		panic(err)
	}
	// Output: evt_1 <nil>
}
