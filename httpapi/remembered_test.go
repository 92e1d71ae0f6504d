package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// TestMetadataShowWhatWasRemembered asks a cascade twice. The second reply has the same
// answers and headers, costs nothing, and its metadata say so.
func TestMetadataShowWhatWasRemembered(t *testing.T) {
	now := time.Now()
	g := newCascade(t, func(_ *httpapi.Config, cfg *router.Config) {
		cfg.Remember, cfg.Now = &router.Remembering{}, func() time.Time { return now }
	})
	body := entries(again)
	first := g.ask(t, body)
	now = now.Add(time.Minute)
	second := g.ask(t, body)
	require.Equal(t, http.StatusOK, second.Code, "%s", second.Body)
	for _, member := range []string{"answers", "model", "provider"} {
		assert.Equal(t, at(t, first.Body.Bytes(), member), at(t, second.Body.Bytes(), member), member)
	}
	for _, name := range []string{"Triggered", "Final-Model", "Primary-Model", "Triggering-Questions"} {
		name = "X-Router-Decision-Fallback-" + name
		assert.NotEmpty(t, second.Header().Get(name), name)
		assert.Equal(t, first.Header().Get(name), second.Header().Get(name), name)
	}
	assert.Zero(t, at(t, second.Body.Bytes(), "usage.cost"))
	assert.Empty(t, at(t, second.Body.Bytes(), "router_metadata.attempts"))
	checkSums(t, second.Body.Bytes())
	shown := map[string]any{}
	for _, member := range []string{"summary", "attempt", "legs", "answers"} {
		shown[member] = at(t, second.Body.Bytes(), "router_metadata."+member)
	}
	golden(t, "testdata/legs/remembered.json", shown)
}
