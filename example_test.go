package signalbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
	"github.com/signalbox/signalbox/systemone"
)

// A whole service in memory, asked in process.
func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// The embedded model. A catalog may have any number of router.Providers.
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
	service, err := signalbox.New(signalbox.Config{Catalog: catalog, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	go service.Run(ctx) // until stop

	result, err := service.Decide(ctx, &router.Call{Request: ticket()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Response.Answers[0].Choice)
	// Output: billing
}

// ticket returns the request that the examples send.
func ticket() *systemone.Request {
	return &systemone.Request{
		Model: similarity.Model,
		State: systemone.Text("I was charged twice for May. Please send one payment back."),
		Questions: []systemone.Question{{
			Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Which team should take this?"),
			Options: []systemone.Option{
				{Name: "billing", Guidance: systemone.Text("charges, payments and refunds")},
				{Name: "technical", Guidance: systemone.Text("something is broken")},
			},
		}},
	}
}

// Everything in one SQLite file, with the driver of the program's choice.
func ExampleNew_sqlite() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "signalbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	sealing := router.Secret(strings.Repeat("k", 32)) // use 32 random bytes, and store them apart from the file

	db, err := sql.Open("sqlite", "file:"+dir+"/signalbox.db")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = db.Close() }()
	catalog := embedded()
	stores, err := sqlite.New(ctx, db, sqlite.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	service, err := signalbox.New(signalbox.Config{
		Catalog: catalog, Stores: stores, SealingKeys: []router.Secret{sealing},
		Retention: 400 * 24 * time.Hour, // of events and records of changes
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(service.Ready(ctx))
	// Output: <nil>
}

// Everything in PostgreSQL, for any number of processes.
//
//nolint:testableexamples // compiled and not run, because it needs a server
func ExampleNew_postgres() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("SIGNALBOX_POSTGRES"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	stores, err := postgres.New(ctx, pool, postgres.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	sealing := router.Secret(os.Getenv("SEALING_KEY")) // 32 bytes, the same in every process
	service, err := signalbox.New(signalbox.Config{
		Catalog: embedded(), Stores: stores, SealingKeys: []router.Secret{sealing},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(service.Ready(ctx))
}

// The budgets, presets and guardrails of an account apply to its calls, and the
// account is charged. A call without a Principal is the program's own.
func ExampleService_Decide() {
	ctx := context.Background()
	service := inMemory(signalbox.Config{})
	_, err := service.Organization.CreateAccount(ctx, router.Actor{}, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ada", Email: "ada@example.org"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range []string{"", "acme", "unknown"} {
		_, err := service.Decide(ctx, &router.Call{Request: ticket(), Principal: router.Principal{Account: account}})
		fmt.Printf("%q: %d\n", account, httpapi.Status(err))
	}
	// Output:
	// "": 200
	// "acme": 200
	// "unknown": 401
}

// The HTTP interface beside the program's own routes. Handler serves /api/v1,
// /api/alpha and /v1. Under a prefix it needs http.StripPrefix, also with the Mount
// of routers such as chi, because Mount does not change the request's path.
func ExampleService_mount() {
	service := inMemory(signalbox.Config{})
	mux := http.NewServeMux()
	mux.Handle("/decide/", http.StripPrefix("/decide", service.Handler))
	// With chi: r.Mount("/decide", http.StripPrefix("/decide", service.Handler))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if service.Ready(r.Context()) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	for _, path := range []string{"/healthz", "/decide/api/v1/models/count", "/decide/v1/models"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		fmt.Println(path, w.Code)
	}
	// Output:
	// /healthz 200
	// /decide/api/v1/models/count 200
	// /decide/v1/models 200
}

// The first account with two keys: a management key and an inference key.
func ExampleService_keys() {
	ctx := context.Background()
	service := inMemory(signalbox.Config{})
	_, err := service.Organization.CreateAccount(ctx, router.Actor{}, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ada", Email: "ada@example.org"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	by := router.Actor{Principal: router.Principal{Account: "acme"}} // the program, for the account
	for _, k := range []keys.Key{
		{Name: "admin", Creator: "ada", Management: true},
		{Name: "web", Creator: "ada", Limit: new(5 * router.Dollar), Reset: router.Monthly},
	} {
		_, secret, err := service.Keys.Create(ctx, by, k)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(k.Name, string(secret[:9])) // shown once: only the hash is kept
	}
	// Output:
	// admin sk-rt-v1-
	// web sk-rt-v1-
}

// Callers that a gateway in front has authenticated need no key.
func ExampleConfig_signIn() {
	service := inMemory(signalbox.Config{API: httpapi.Config{
		SignIn: func(r *http.Request) (router.Principal, error) {
			// The gateway sets these headers and removes them from incoming requests.
			// Without them the zero Principal means that the caller must have a key.
			return router.Principal{Account: r.Header.Get("X-Account"), Member: r.Header.Get("X-User")}, nil
		},
	}})
	_, err := service.Organization.CreateAccount(context.Background(), router.Actor{}, organization.NewAccount{
		ID: "acme", Name: "Acme", Owner: organization.Member{ID: "ada", Email: "ada@example.org"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range []string{"acme", ""} {
		r := httptest.NewRequest(http.MethodGet, "/api/v1/models/user", http.NoBody)
		r.Header.Set("X-Account", account)
		w := httptest.NewRecorder()
		service.Handler.ServeHTTP(w, r)
		fmt.Printf("%q: %d\n", account, w.Code)
	}
	// Output:
	// "acme": 200
	// "": 401
}

// embedded returns the catalog of the embedded model.
func embedded() *router.Catalog {
	model, err := similarity.New(similarity.Config{})
	if err != nil {
		panic(err)
	}
	catalog, err := router.Single(model, model.Endpoint("embedded"))
	if err != nil {
		panic(err)
	}
	return catalog
}

// inMemory returns a service that logs nothing.
func inMemory(cfg signalbox.Config) *signalbox.Service {
	cfg.Catalog, cfg.Logger = embedded(), slog.New(slog.DiscardHandler)
	service, err := signalbox.New(cfg)
	if err != nil {
		panic(err)
	}
	return service
}
