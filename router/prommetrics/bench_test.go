package prommetrics_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/prommetrics"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/systemone"
)

// instant is a provider that answers at no cost.
type instant struct{ reply router.Reply }

func (p instant) Decide(context.Context, router.Attempt) (router.Reply, error) { return p.reply, nil }

// sink is a ResponseWriter that costs nothing.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }

// handlerOf returns a function that serves one request by a service in memory.
func handlerOf(b *testing.B, metrics signalbox.Metrics) (serve func()) {
	b.Helper()
	body := []byte(asking("acme/first"))
	request, err := systemone.Decoder{}.Decode(body)
	require.NoError(b, err)
	p := instant{router.Reply{Answers: routertest.Answers(request), Usage: systemone.Usage{InputTokens: 1, OutputTokens: 1}}}
	s, err := signalbox.New(signalbox.Config{
		Catalog: newCatalog(b, p, p), Metrics: metrics, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(b, err)
	seeded, err := demo.Seed(b.Context(), s)
	require.NoError(b, err)
	reader := bytes.NewReader(body)
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/api/v1/systemone", nil)
	r.Header.Set("Authorization", "Bearer "+string(seeded.Inference))
	r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
	return func() {
		reader.Reset(body)
		w := sink{header: http.Header{}}
		s.Handler.ServeHTTP(&w, r)
		if w.status != http.StatusOK {
			b.Fatal(w.status)
		}
	}
}

// BenchmarkRequest compares a request with and without metrics, from the handler of the
// service to the written reply. Neither the network nor the upstream is part of it, so
// the share of the metrics is larger than in a server. Batches alternate, so that a
// change of the machine's speed affects both. The fastest tenth of the batches counts,
// because other processes delay the rest.
func BenchmarkRequest(b *testing.B) {
	const batch = 50
	serve := [2]func(){
		handlerOf(b, nil),
		handlerOf(b, prommetrics.New(prommetrics.Config{Registerer: prometheus.NewRegistry()})),
	}
	var times [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for j := range serve {
			which := (i + j) % 2 // each goes first every other time
			began := time.Now()
			for range batch {
				serve[which]()
			}
			times[which] = append(times[which], time.Since(began)/batch)
		}
	}
	fast := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/10].Nanoseconds())
	}
	without, with := fast(times[0]), fast(times[1])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(without, "ns/request")
	b.ReportMetric(with-without, "ns/metrics")
	b.ReportMetric(100*(with-without)/without, "%more")
}

// BenchmarkScrape measures a scrape of the metrics of a large catalog: 300 endpoints of 60
// models at 20 providers.
func BenchmarkScrape(b *testing.B) {
	var models []router.Model
	var providers []router.ProviderInfo
	var endpoints []router.Endpoint
	for i := range 20 {
		providers = append(providers, router.ProviderInfo{Slug: "p" + string(rune('a'+i)), Client: &routertest.Script{}})
	}
	for i := range 60 {
		id := "acme/m" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		models = append(models, router.Model{ID: id, Permaslug: id + "-1"})
		for j := range 5 {
			endpoints = append(endpoints, router.Endpoint{Provider: providers[(i+j)%20].Slug, Model: id})
		}
	}
	catalog, err := router.NewCatalog(models, providers, endpoints)
	require.NoError(b, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(b, err)
	registry := prometheus.NewRegistry()
	require.NoError(b, prommetrics.New(prommetrics.Config{Registerer: registry}).Register(rt))
	b.ReportMetric(float64(seriesOf(families(b, registry))), "series")
	for b.Loop() {
		if _, err := registry.Gather(); err != nil {
			b.Fatal(err)
		}
	}
}
