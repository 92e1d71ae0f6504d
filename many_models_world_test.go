package signalbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// manyWorld is the service of one case.
type manyWorld struct {
	*gateway

	c         *manyCase
	upstreams map[string]*manyUpstream
	events    *eventTape
}

// manyProviders are the providers of all cases, with their display names.
func manyProviders() map[string]string {
	return map[string]string{"ant": "Ant Cloud", "bee": "Bee", "cat": "Cat Labs", "dog": "Dog", "elk": "Elk", "fox": "Fox"}
}

// longModel returns the dated id of a model that a case writes as one letter.
func longModel(short string) string { return "acme/" + short + "-20260901" }

// eventTape is an activity store that remembers what was recorded, in order.
type eventTape struct {
	activity.Store

	mu   sync.Mutex
	list []router.Event
}

func (e *eventTape) Record(ctx context.Context, events []router.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, events...)
	return e.Store.Record(ctx, events)
}

// since returns the events behind the first n.
func (e *eventTape) since(n int) []router.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.list[n:])
}

func newManyWorld(t *testing.T, c *manyCase, named map[string]string) *manyWorld {
	t.Helper()
	w := &manyWorld{gateway: &gateway{stores: memory.New()}, c: c, upstreams: map[string]*manyUpstream{}}
	w.events = &eventTape{Store: w.stores.Activity}
	w.stores.Activity = w.events
	var infos []router.ProviderInfo
	for slug, name := range manyProviders() {
		u := &manyUpstream{hangUp: func() {}}
		if line := c.one(slug); line != "" {
			u.steps = parseManySteps(t, line)
		}
		w.upstreams[slug] = u
		infos = append(infos, router.ProviderInfo{Slug: slug, Name: name, Client: u})
	}
	list := c.one("catalog")
	if list == "" {
		list = named["usual"]
	}
	catalog, err := router.NewCatalog(manyModelsOf(t, c), infos, parseManyEndpoints(t, list))
	require.NoError(t, err)
	cfg := signalbox.Config{Catalog: catalog, Stores: w.stores, SealingKeys: demo.SealingKeys(), Logger: discard()}
	cfg.Router.Seed = func() uint64 { return 15 }
	switch option := c.one("option"); option {
	case "":
	case "abandoned=void":
		cfg.Router.Abandoned = router.AbandonVoid
	default:
		_, err = fmt.Sscanf(option, "max_attempts=%d", &cfg.Router.MaxAttempts)
		require.NoError(t, err, option)
	}
	w.Service, err = signalbox.New(cfg)
	require.NoError(t, err)
	w.seeded, err = demo.Seed(t.Context(), w.Service)
	require.NoError(t, err)
	return w
}

func (w *manyWorld) hangUp(f func()) {
	for _, u := range w.upstreams {
		u.hangUp = f
	}
}

// manyModelsOf returns the models a to f, and the composed model of a case.
func manyModelsOf(t *testing.T, c *manyCase) []router.Model {
	t.Helper()
	var models []router.Model
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		models = append(models, router.Model{ID: "acme/" + name, Permaslug: longModel(name)})
	}
	text := c.one("composed")
	if text == "" {
		return models
	}
	id, text, _ := strings.Cut(text, " = ")
	entries, text := cutJSON(t, text)
	var body systemone.Request
	require.NoError(t, json.Unmarshal([]byte(manyBody(t, `{"models":`+entries+`}`, "x", parseManyQuestions(t, "desk refund"))), &body))
	composed := router.Model{ID: id, Permaslug: id + "-20260901"}
	share := 0.0
	if most, ok := strings.CutPrefix(text, "at most "); ok {
		var err error
		share, err = strconv.ParseFloat(most, 64)
		require.NoError(t, err)
	}
	composed.Stages, composed.MaxEscalated = body.Models, share
	return append(models, composed)
}

func parseManyEndpoints(t *testing.T, text string) []router.Endpoint {
	t.Helper()
	var list []router.Endpoint
	for one := range strings.SplitSeq(text, ";") {
		fields := strings.Fields(one)
		provider, model, _ := strings.Cut(fields[0], ":")
		e := router.Endpoint{Provider: provider, Model: "acme/" + model, UpstreamModel: model, Pricing: parseManyPricing(t, fields[1])}
		for _, flag := range fields[2:] {
			name, value, _ := strings.Cut(strings.ReplaceAll(flag, "≤", "="), "=")
			n, _ := strconv.Atoi(value)
			switch name {
			case "zdr":
				e.ZDR = true
			case "col":
				e.CollectsData = true
			case "off":
				e.Off = true
			case "last":
				e.LastResort = true
			case "nodist":
				e.Tolerance.NoDistribution = true
			case "round":
				_, err := fmt.Sscanf(value, "%g", &e.Tolerance.Rounding)
				require.NoError(t, err)
			case "que":
				e.Limits.Questions = n
			case "opt":
				e.Limits.Options = n
			case "lev":
				e.Limits.Levels = n
			default:
				t.Fatalf("unknown flag %q", flag)
			}
		}
		list = append(list, e)
	}
	return list
}

func parseManyPricing(t *testing.T, text string) router.Pricing {
	t.Helper()
	text, request, _ := strings.Cut(text, "+")
	prompt, completion, _ := strings.Cut(text, "/")
	return router.Pricing{Prompt: manyUSD(t, prompt).Price(), Completion: manyUSD(t, completion).Price(), Request: manyUSD(t, request).Price()}
}

func manyUSD(t *testing.T, text string) router.USD {
	t.Helper()
	if text == "" {
		return 0
	}
	usd, err := router.ParseUSD(text)
	require.NoError(t, err)
	return usd
}

// give makes what is so before the request.
func (w *manyWorld) give(t *testing.T, text string) {
	t.Helper()
	if amount, ok := strings.CutPrefix(text, "credits "); ok {
		_, err := w.Organization.TopUp(t.Context(), demo.Program(), "payment-1", manyUSD(t, amount))
		require.NoError(t, err)
		return
	}
	sum := sha256.Sum256([]byte(w.seeded.Inference))
	text = strings.NewReplacer("{guardrail}", w.seeded.Home.DefaultGuardrail, "{key}", hex.EncodeToString(sum[:])).Replace(text)
	words := strings.SplitN(text, " ", 3)
	w.manage(t, words[0], words[1], words[2])
}

// post sends a request for a decision, with metadata.
func (w *manyWorld) post(ctx context.Context, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/systemone", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+string(w.seeded.Inference))
	r.Header.Set("X-Router-Metadata", "enabled")
	return w.serve(r)
}

// tomorrow is after every instant of a case.
func tomorrow() string { return time.Now().AddDate(0, 0, 1).UTC().Format(time.DateOnly) }
