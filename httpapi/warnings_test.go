package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// TestWarningsBearTheBrand: the name of the warnings header contains the brand.
func TestWarningsBearTheBrand(t *testing.T) {
	s, err := guardrails.New(guardrails.Config{Store: memory.New().Guardrails, Model: func(string) bool { return false }})
	require.NoError(t, err)
	g := newRig(t, withGuardrails(s), func(c *httpapi.Config, _ *router.Config) { c.Brand = "openrouter" })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/guardrails", strings.NewReader(`{"name":"g","allowed_models":["m"]}`))
	r.Header.Set("Authorization", "Bearer "+string(g.keys["management"]))
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusCreated, w.Code, w.Body)
	assert.Equal(t, `[{"path":"allowed_models.0","message":"m is not in the catalog"}]`, w.Header().Get("X-Openrouter-Warnings"))
	assert.Empty(t, w.Header().Get("X-Router-Warnings"))
}
