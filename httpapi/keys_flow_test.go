package httpapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func TestTheSecretIsShownOnce(t *testing.T) {
	g := newRig(t)
	w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/keys", `{"name":"n","external":{"user":"u","api_key":"partner-canary"}}`, "management"))
	require.Equal(t, http.StatusCreated, w.Code)
	secret, ok := at(t, w.Body.Bytes(), "key").(string)
	require.True(t, ok)
	assert.Equal(t, hashOf(secret), at(t, w.Body.Bytes(), "data.hash"))
	g.keys["new"] = router.Secret(secret) // from here on serve asserts that the key is in no reply
	g.keys["partner"] = "partner-canary"
	for _, path := range []string{"/keys", g.expand("/keys/{new}")} {
		assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Code)
	}
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodGet, "/key", "", "new")).Code)
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "new")).Code)
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodDelete, g.expand("/keys/{new}"), "", "management")).Code)
	w = g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "new"))
	assert.Equal(t, 401, w.Code)
	assert.Equal(t, "Invalid API key", at(t, w.Body.Bytes(), "error.message"))
}

func TestAFailedUpdateAppliesNothing(t *testing.T) {
	g := newRig(t)
	path := g.expand("/keys/{inference}")
	before := g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Body.String()
	w := g.serve(t, g.handler, g.request(t, http.MethodPatch, path, `{"name":"x","limit":3,"disabled":"no"}`, "management"))
	require.Equal(t, 400, w.Code)
	assert.Equal(t, before, g.serve(t, g.handler, g.request(t, http.MethodGet, path, "", "management")).Body.String())
}

func TestForeignAndMissingKeysLookTheSame(t *testing.T) {
	g := newRig(t)
	for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
		var bodies []string
		for _, kind := range []string{"{foreign}", "{unknown}", "{management}"} {
			w := g.serve(t, g.handler, g.request(t, method, g.expand("/keys/"+kind), `{"name":"n"}`, "management"))
			require.Equal(t, 404, w.Code)
			bodies = append(bodies, w.Body.String())
		}
		assert.Equal(t, bodies[0], bodies[1])
		assert.Equal(t, bodies[0], bodies[2])
	}
}

func TestAmountsAreExact(t *testing.T) {
	g := newRig(t)
	w := g.serve(t, g.handler, g.request(t, http.MethodPatch, g.expand("/keys/{inference}"), `{"limit":8999999999.999999999}`, "management"))
	require.Equal(t, 200, w.Code)
	var body struct {
		Data struct {
			Limit json.Number `json:"limit"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
	assert.Equal(t, "8999999999.999999999", body.Data.Limit.String())
}
