package signalbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
)

// TestAFailedAttemptIsLoggedWithItsCause: also if the caller got an answer, because
// the operator must learn that a credential has expired. The log quotes neither the
// upstream nor the caller.
func TestAFailedAttemptIsLoggedWithItsCause(t *testing.T) {
	says := func(noul string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"model":"hunter2","answers":{"canary":{"type":"noul","noul":%s}},"usage":{"input_tokens":3,"output_tokens":1}}`, noul)
		}
	}
	refuses := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hunter2", http.StatusUnauthorized) }
	hangsUp := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	const (
		refused = "router: upstream provider_unavailable (status 401): upstream replied with an error"
		gone    = "router: upstream provider_unavailable (status 0): connection failed"
		wrong   = "systemone: bad answer: noul is not in [0, 1]"
	)
	for name, c := range map[string]struct {
		ant, bee http.HandlerFunc
		status   int     // of the reply
		seen     float64 // of ant's attempt
		cause    string  // of ant's attempt
		failure  string  // of bee's attempt, and of the request
	}{
		"a credential that has run out":  {refuses, says("0.5"), http.StatusOK, 401, refused, ""},
		"nobody there":                   {hangsUp, says("0.5"), http.StatusOK, 0, gone, ""},
		"an answer that fails the check": {says("1.2"), says("0.5"), http.StatusOK, 502, wrong, ""},
		"no fallback":                    {says("1.2"), refuses, http.StatusBadGateway, 502, wrong, refused},
	} {
		t.Run(name, func(t *testing.T) {
			providers := make([]router.ProviderInfo, 0, 2)
			for slug, h := range map[string]http.HandlerFunc{"ant": c.ant, "bee": c.bee} {
				up := httptest.NewUnstartedServer(h)
				up.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
				up.Start()
				defer up.Close()
				client, err := systemonehttp.New(systemonehttp.Config{BaseURL: up.URL + "/v1", APIKey: "hunter2"})
				require.NoError(t, err)
				providers = append(providers, router.ProviderInfo{Slug: slug, Client: client})
			}
			catalog, err := router.NewCatalog([]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}}, providers, []router.Endpoint{
				{Provider: "ant", Variant: "eu", Model: "acme/judge", UpstreamModel: "j"},
				{Provider: "bee", Model: "acme/judge", UpstreamModel: "j"},
			})
			require.NoError(t, err)
			var log bytes.Buffer
			s, err := signalbox.New(signalbox.Config{
				Catalog: catalog, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
			})
			require.NoError(t, err)
			seeded, err := demo.Seed(t.Context(), s)
			require.NoError(t, err)

			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone", strings.NewReader(
				`{"model":"acme/judge","state":"x","provider":{"order":["ant"]},"questions":{"canary":{"type":"noul","instructions":"?"}}}`))
			r.Header.Set("Authorization", "Bearer "+string(seeded.Inference))
			r.Header.Set("X-Request-Id", "req-1")
			w := httptest.NewRecorder()
			s.Handler.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, w.Body)

			assert.NotContains(t, log.String(), "hunter2")
			assert.NotContains(t, log.String(), "canary")
			said := map[string][]map[string]any{}
			for text := range strings.Lines(log.String()) {
				line := map[string]any{}
				require.NoError(t, json.Unmarshal([]byte(text), &line))
				msg, _ := line["msg"].(string)
				for _, varies := range []string{"msg", "id", "time", "duration"} {
					delete(line, varies)
				}
				said[msg] = append(said[msg], line)
			}
			require.NotEmpty(t, said["attempt failed"])
			assert.Equal(t, map[string]any{
				"level": "WARN", "request_id": "req-1", "endpoint": "ant/eu", "model": "acme/judge",
				"class": "provider_unavailable", "status": c.seen, "cause": c.cause,
			}, said["attempt failed"][0])
			if c.failure == "" {
				assert.Len(t, said["attempt failed"], 1)
				assert.Len(t, said, 1, "an answer is not in the log")
				return
			}
			require.Len(t, said["attempt failed"], 2)
			assert.Equal(t, c.failure, said["attempt failed"][1]["cause"])
			require.Len(t, said["request failed"], 1)
			assert.Contains(t, said["request failed"][0]["error"], c.failure)
		})
	}
}
