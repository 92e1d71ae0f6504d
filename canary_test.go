package signalbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
)

// notebook collects everything that is logged or printed.
type notebook struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (n *notebook) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.Write(p)
}

func (n *notebook) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.b.String()
}

// canary is a text that must not be found in some places.
type canary struct {
	name     string
	parts    []string
	upstream bool // it may be sent to providers
	shown    bool // it may be in an answer
}

// Offer writes the spans of a call as they are exported.
func (n *notebook) Offer(spans []telemetry.Span) {
	_ = export.NewFile(n, "").Export(context.Background(), spans) // never fails
}

// aviary is a whole service between hostile callers and hostile upstreams. It records
// everything that the service sends.
type aviary struct {
	*signalbox.Service
	t        *testing.T
	clock    hand
	stores   store.Set
	broken   atomic.Bool // the stores fail
	seeded   demo.Seeded
	server   *httptest.Server
	client   *http.Client
	ant, bee *parrot
	log      notebook
	traces   notebook
	canaries []canary
	sent     map[string]bool // credentials that upstreams may see
	ids      map[string]string
	answers  []string // each request with its whole reply
	statuses map[int]int
	revealed int
}

func newAviary(t *testing.T) *aviary {
	t.Helper()
	a := &aviary{
		t: t, clock: hand{at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}, stores: memory.New(),
		ant: &parrot{mode: "200"}, bee: &parrot{mode: "200", decisions: true},
		sent: map[string]bool{}, ids: map[string]string{}, statuses: map[int]int{},
	}
	logger := slog.New(slog.NewJSONHandler(&a.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	standard := slog.Default()
	slog.SetDefault(logger) // this redirects package log as well
	t.Cleanup(func() { slog.SetDefault(standard) })
	sealing, user := []byte("canary-sealing-key-of-32-bytes-!"), []byte("canary-user-hashing-key-32-bytes")
	a.hide("sealing key", string(sealing), hex.EncodeToString(sealing), strings.Trim(fmt.Sprintf("%d", sealing), "[]"))
	a.hide("user key", string(user), hex.EncodeToString(user), strings.Trim(fmt.Sprintf("%d", user), "[]"))
	a.breakable()
	traces, err := telemetry.New(telemetry.Config{Now: a.clock.now, Sinks: func(router.Principal) []telemetry.Sink { return []telemetry.Sink{&a.traces} }})
	require.NoError(t, err)
	a.Service, err = signalbox.New(signalbox.Config{
		Catalog: a.catalog(), Stores: a.stores, SealingKeys: []router.Secret{router.Secret(sealing)}, Router: router.Config{UserKey: user}, Logger: logger, Now: a.clock.now,
		Interceptors: signalbox.Interceptors{First: []router.Interceptor{traces.Intercept}},
	})
	require.NoError(t, err)
	a.server = httptest.NewUnstartedServer(a.Handler)
	a.server.Config.ErrorLog = slog.NewLogLogger(logger.Handler(), slog.LevelWarn)
	a.server.Start()
	t.Cleanup(a.server.Close)
	a.client = a.server.Client()
	a.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a.populate()
	return a
}

// catalog has a model at an upstream of each dialect, with keys of the operator.
func (a *aviary) catalog() *router.Catalog {
	a.t.Helper()
	clients := map[string]router.Provider{}
	for slug, upstream := range map[string]*parrot{"ant": a.ant, "bee": a.bee} {
		server := httptest.NewServer(upstream)
		a.t.Cleanup(server.Close)
		key := "sk-operator-at-" + slug + "-Zq81LwTnB4cXv0RmKd7"
		a.hide("operator's key at "+slug, key)
		a.sent[key] = true
		var err error
		if upstream.decisions {
			clients[slug], err = openaidecisions.New(openaidecisions.Config{BaseURL: server.URL, APIKey: router.Secret(key)})
		} else {
			clients[slug], err = systemonehttp.New(systemonehttp.Config{BaseURL: server.URL, APIKey: router.Secret(key)})
		}
		require.NoError(a.t, err)
	}
	c, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Name: "Ant", Client: clients["ant"]}, {Slug: "bee", Name: "Bee", Client: clients["bee"]}},
		[]router.Endpoint{
			{Provider: "ant", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.00000001")}, Parameters: []string{"user"}},
			{Provider: "bee", Model: "acme/judge", UpstreamModel: "j", Pricing: router.Pricing{Request: router.Dollars("0.00000002")}, Parameters: []string{"user"}},
		},
	)
	require.NoError(a.t, err)
	return c
}

// hide makes canaries of a secret, of its parts and of its encodings. A part is
// longer than what a label shows of either end.
func (a *aviary) hide(name string, forms ...string) {
	text := forms[0]
	parts := append([]string{base64.StdEncoding.EncodeToString([]byte(text))}, forms[1:]...)
	if len(text) < 40 {
		parts = append(parts, text)
	}
	const part = 18
	for from := 12; from+part <= len(text)-4; from += part {
		parts = append(parts, text[from:from+part])
	}
	a.canaries = append(a.canaries, canary{name: name, parts: parts})
}

// populate makes keys of every kind, and people.
func (a *aviary) populate() {
	a.t.Helper()
	ctx := a.t.Context()
	var err error
	a.seeded, err = demo.Seed(ctx, a.Service)
	require.NoError(a.t, err)
	a.hide("management key", string(a.seeded.Management))
	a.hide("inference key", string(a.seeded.Inference))
	_, err = a.Organization.CreateAccount(ctx, router.Actor{}, organization.NewAccount{
		ID: "other", Name: "Other", Owner: organization.Member{ID: "user_eve", Email: "eve@example.org"},
	})
	require.NoError(a.t, err)
	for name, k := range map[string]keys.Key{
		"disabled": {Disabled: true}, "expired": {ExpiresAt: a.clock.now().Add(time.Second)}, "deleted": {}, "provisioned": {Provisioned: true},
		"foreign": {Account: "other", Creator: "user_eve", Management: true}, "lapsed": {Management: true, Creator: demo.Admin, ExpiresAt: a.clock.now().Add(time.Second)},
	} {
		if k.Account == "" {
			k.Account = demo.Account
		}
		k.Name = name
		by := router.Actor{Principal: router.Principal{Account: k.Account}}
		r, secret, err := a.Keys.Create(ctx, by, k)
		require.NoError(a.t, err)
		a.hide(name+" key", string(secret))
		a.ids[name] = string(secret)
		if name == "deleted" {
			require.NoError(a.t, a.Keys.Delete(ctx, by, r.Hash))
		}
	}
	a.clock.move(time.Minute)
}

// look fails the test for every canary in a text.
func (a *aviary) look(where, text string, upstream, answer bool) {
	a.t.Helper()
	for _, c := range a.canaries {
		if upstream && c.upstream || answer && c.shown {
			continue
		}
		for _, part := range c.parts {
			if i := strings.Index(text, part); i >= 0 {
				assert.Fail(a.t, "a secret was told", "%s: the %s: …%q…", where, c.name, text[max(0, i-200):min(len(text), i+120)])
				break
			}
		}
	}
}

// search looks for every canary in everything that was sent, logged and stored.
func (a *aviary) search() {
	a.t.Helper()
	for line := range strings.Lines(a.log.String()) {
		a.look("log", line, false, false)
	}
	// Callers choose these in order to find them in traces.
	named := regexp.MustCompile(`\{"key":"(session\.id|trace\.metadata\.[^"]*)","value":\{"stringValue":"[^"]*"\}\}|"canary-question(-2)?"`)
	for line := range strings.Lines(a.traces.String()) {
		a.look("trace", named.ReplaceAllString(line, ""), false, false)
	}
	for _, answer := range a.answers {
		a.look("answer", answer, false, true)
	}
	for _, p := range []*parrot{a.ant, a.bee} {
		for _, heard := range p.heard {
			a.look("upstream", heard, true, false)
		}
		for _, key := range p.shown {
			assert.True(a.t, a.sent[key], "an upstream was shown the credential %q", key)
		}
	}
	ctx := a.t.Context()
	for _, account := range []string{demo.Account, "other"} {
		changes, n, err := a.stores.Audit.Changes(ctx, account, 0, 1_000_000)
		require.NoError(a.t, err)
		require.Len(a.t, changes, n)
		for _, c := range changes {
			a.look("audit", fmt.Sprintf("%+v %s %s", c, c.Before, c.After), false, false)
		}
		for _, workspace := range []string{a.seeded.Home.ID, a.seeded.Lab.ID} {
			kept, err := a.stores.Keys.List(ctx, account, keys.Query{Workspace: workspace, IncludeDisabled: true, Limit: 1000})
			require.NoError(a.t, err)
			sealed, err := a.stores.Credentials.Enabled(ctx, account, workspace)
			require.NoError(a.t, err)
			a.look("store", fmt.Sprintf("%+v %+v %s", kept, sealed, texts(sealed)), false, false)
		}
	}
	a.look("printed", fmt.Sprintf("%+v %#v %v %+v", a.Service, a.Service, a.Credentials, a.Keys), false, false)
}

// TestNoSecretIsEverTold: for any request and any failure, no key, credential,
// redacted text or private text is logged, answered, sent upstream or stored in the
// clear. The only exception is the reply that reveals a new key.
func TestNoSecretIsEverTold(t *testing.T) {
	a := newAviary(t)
	for _, broken := range []bool{false, true} {
		a.furnish()
		a.clock.move(time.Minute) // past what is cached
		a.broken.Store(broken)
		a.walk()
		a.talk()
		a.broken.Store(false)
	}
	a.mumble()
	a.search()

	// The walk reached everything that it is meant to reach.
	assert.Positive(t, a.revealed)
	for _, status := range []int{200, 201, 400, 401, 403, 404, 405, 413, 429, 500, 502, 503, 524, 529} {
		assert.Positive(t, a.statuses[status], "nobody was told %d", status)
	}
	assert.Contains(t, a.log.String(), "request failed")
	assert.Contains(t, a.traces.String(), `"provider_unavailable"`)
	assert.Contains(t, a.log.String(), `"level":"ERROR"`)
	assert.True(t, slices.ContainsFunc(a.ant.heard, func(s string) bool { return strings.Contains(s, "[EMAIL]") }))
	assert.True(t, slices.ContainsFunc(a.bee.heard, func(s string) bool { return strings.Contains(s, "[EMAIL]") }))
}

// texts joins the sealed texts.
func texts(sealed []keys.StoredCredential) []byte {
	var all []byte
	for _, c := range sealed {
		all = append(all, c.Sealed.Text...)
	}
	return all
}
