package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// tracesLine is what the tests read of a request in OTLP.
type tracesLine struct {
	ResourceSpans []struct {
		ScopeSpans []struct {
			Spans []struct {
				TraceID      string `json:"traceId"`
				ParentSpanID string `json:"parentSpanId"`
				Name         string `json:"name"`
				Kind         int    `json:"kind"`
			} `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

// TestTracesOfTheServer: a file and a collector get the call that was answered before the
// server stopped. A caller's key is in neither.
func TestTracesOfTheServer(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.URL.Path, string(body))
	}))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "traces.jsonl")
	s := startServer(t, "-otlp", collector.URL, "-traces", file)
	status, reply := s.post(t, s.keys["inference_key"],
		`{"model":"signalbox/similarity-en-1","state":"x","questions":{"q":{"type":"noul","instructions":"Is it good?"}},"trace":{"trace_id":"run 7"}}`)
	require.Equal(t, http.StatusOK, status, reply)
	require.Equal(t, exitOK, s.stop(t, syscall.SIGTERM))

	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	require.True(t, lines.Scan())
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, sent, 2)
	assert.Equal(t, "/v1/traces", sent[0])
	for _, text := range []string{lines.Text(), sent[1]} {
		var line tracesLine
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		spans := line.ResourceSpans[0].ScopeSpans[0].Spans
		require.Len(t, spans, 2)
		assert.Equal(t, "decide signalbox/similarity-en-1", spans[0].Name)
		assert.Equal(t, 2, spans[0].Kind, "SERVER")
		assert.Equal(t, 3, spans[1].Kind, "CLIENT")
		assert.Equal(t, spans[0].TraceID, spans[1].TraceID)
		assert.NotContains(t, text, s.keys["inference_key"])
	}
	info, err := f.Stat()
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestMistakesInTheFlagsOfTraces(t *testing.T) {
	for want, args := range map[string][]string{
		"-otlp":                              {"-otlp", "localhost:4318"},
		"-traces: no such file or directory": {"-traces", filepath.Join(t.TempDir(), "none", "traces.jsonl")},
		"-otlp: is empty":                    {"-otlp", ""},
	} {
		var stdout, stderr strings.Builder
		code := run(t.Context(), append(args, "-addr", "127.0.0.1:0"), func(string) string { return "" }, &stdout, &stderr)
		assert.Equal(t, exitUsage, code)
		assert.Contains(t, stderr.String(), want)
	}
}

// TestTheServerSendsTracesUpstream only to the providers that the operator names.
func TestTheServerSendsTracesUpstream(t *testing.T) {
	for _, kind := range []string{kindSystemOne, kindOpenAI, kindGemini} {
		for _, send := range []bool{false, true} {
			var got []string
			up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header["Traceparent"] }))
			b := builder{getenv: func(string) string { return "" }, warn: func(string) {}}
			u, err := b.upstream("providers[0]", providerConfig{Slug: "up", Kind: kind, BaseURL: up.URL, SendTrace: send})
			require.NoError(t, err)
			_, err = u.info.Client.Decide(t.Context(), router.Attempt{
				Model: "m", Trace: router.TraceContext{Parent: "00-p"}, Request: &systemone.Request{
					State: systemone.Text("s"), Questions: []systemone.Question{{Name: "q", Kind: systemone.Noul, Instructions: systemone.Text("i")}},
				},
			})
			require.Error(t, err, "the reply is empty")
			up.Close()
			if send {
				assert.Equal(t, []string{"00-p"}, got, kind)
			} else {
				assert.Empty(t, got, kind)
			}
		}
	}
}
