package signalbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// ready is a provider that answers with a prepared reply.
type ready struct{ reply router.Reply }

func (p *ready) Decide(context.Context, router.Attempt) (router.Reply, error) { return p.reply, nil }

// post sends a body over the network and returns the status, 0 when ctx ended.
func post(ctx context.Context, tb testing.TB, url string, key router.Secret, body string) int {
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	require.NoError(tb, err)
	r.Header.Set("Authorization", "Bearer "+string(key))
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, reply.Body)
	_ = reply.Body.Close()
	return reply.StatusCode
}

// decision returns a request about a state.
func decision(state string) string {
	return `{"model":"acme/judge","state":"` + state + `","questions":{"q":{"type":"noul","instructions":"Is it?"}}}`
}

// besieged returns a service in which one key has the most expensive guardrail that
// can be stored.
func besieged(tb testing.TB) (url string, light, heavy router.Secret) {
	tb.Helper()
	client := &ready{router.Reply{Answers: systemone.Answers{{Name: "q", Kind: systemone.Noul, Noul: 0.5}}}}
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-1"}},
		[]router.ProviderInfo{{Slug: "ant", Client: client}},
		[]router.Endpoint{{Provider: "ant", Model: "acme/judge", UpstreamModel: "j"}},
	)
	require.NoError(tb, err)
	s, err := signalbox.New(signalbox.Config{Catalog: catalog, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(tb, err)
	seeded, err := demo.Seed(tb.Context(), s)
	require.NoError(tb, err)
	server := httptest.NewServer(s.Handler)
	tb.Cleanup(server.Close)
	manage := func(path, body string) map[string]any {
		tb.Helper()
		r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/api/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+string(seeded.Management))
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		require.Less(tb, w.Code, 300, "%s: %s", path, w.Body)
		var reply map[string]any
		require.NoError(tb, json.Unmarshal(w.Body.Bytes(), &reply))
		return reply
	}
	made := manage("/keys", `{"name":"heavy"}`)
	key, _ := made["key"].(string)
	data, _ := made["data"].(map[string]any)
	list := make([]string, 800)
	for i := range list {
		list[i] = fmt.Sprintf("[ab].*b%04dc", i)
	}
	guardrail, _ := manage("/guardrails", fmt.Sprintf(`{"name":"heavy","content_filters":[{"pattern":"%s","action":"flag"}]}`, strings.Join(list, "|")))["data"].(map[string]any)
	manage(fmt.Sprintf("/guardrails/%v/assignments/keys", guardrail["id"]), fmt.Sprintf(`{"key_hashes":["%v"]}`, data["hash"]))
	return server.URL + "/api/v1/systemone", seeded.Inference, router.Secret(key)
}

// TestARequestAboveTheFilterBudgetIsRefused: a request too large for the filters of
// its key is a 403, and other keys are not affected.
func TestARequestAboveTheFilterBudgetIsRefused(t *testing.T) {
	url, light, heavy := besieged(t)
	for _, c := range []struct {
		key  router.Secret
		size int
		want int
	}{
		{heavy, 10, http.StatusOK},
		{heavy, 1 << 20, http.StatusForbidden},
		{light, 1 << 20, http.StatusOK},
	} {
		assert.Equal(t, c.want, post(t.Context(), t, url, c.key, decision(strings.Repeat("z", c.size))), c.size)
	}
}

// BenchmarkOthersWhileFiltersBurn measures the small requests of one caller, while
// four others send requests that filters scan for a second, and hang up.
func BenchmarkOthersWhileFiltersBurn(b *testing.B) {
	url, light, heavy := besieged(b)
	hostile := decision(strings.Repeat("ab", 32_000))
	for _, callers := range []int{0, 4} {
		b.Run(fmt.Sprint(callers, " callers"), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var busy sync.WaitGroup
			for range callers {
				busy.Go(func() {
					for ctx.Err() == nil {
						short, hangUp := context.WithTimeout(ctx, 300*time.Millisecond)
						post(short, b, url, heavy, hostile)
						hangUp()
					}
				})
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				require.Equal(b, http.StatusOK, post(b.Context(), b, url, light, decision("short")))
				took = append(took, time.Since(began))
			}
			cancel()
			busy.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
