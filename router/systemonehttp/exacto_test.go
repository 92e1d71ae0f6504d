package systemonehttp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// TestWrongAnswersLowerTheQuality: an endpoint whose wrong answers the client
// detects is ordered behind one that was always right, however cheap it is.
func TestWrongAnswersLowerTheQuality(t *testing.T) {
	const bad = `{"answers":{"refund":{"type":"noul"}}}`
	good := replay(t, "typesafe/answer").answer
	wrong := false
	trip := &tripper{answer: func(r *http.Request) (*http.Response, error) {
		resp, err := good(r)
		if wrong {
			resp.ContentLength, resp.Body = -1, io.NopCloser(strings.NewReader(bad))
		}
		return resp, err
	}}
	ant := client(t, systemonehttp.TypeSafe(), trip)
	catalog, err := router.NewCatalog(
		[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
		[]router.ProviderInfo{{Slug: "ant", Client: ant}, {Slug: "bee", Client: &routertest.Script{}}},
		[]router.Endpoint{
			ant.Endpoint("ant", "acme/judge", ""),
			{Provider: "bee", Model: "acme/judge", Pricing: router.Pricing{Prompt: router.Dollars("1")}},
		},
	)
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	asked := func(by systemone.SortBy) (tags []string) {
		q := request()
		q.Dialect, q.Model = systemone.Native, "acme/judge"
		q.Provider = &systemone.Preferences{Sort: systemone.Sort{By: by}}
		c := &router.Call{Request: q}
		_, err := rt.Decide(t.Context(), c)
		require.NoError(t, err)
		for _, a := range c.Report.Legs[0].Attempts {
			tags = append(tags, a.Endpoint.Tag())
		}
		return tags
	}
	for range 20 {
		require.Equal(t, []string{"ant"}, asked(systemone.SortPrice))
	}
	wrong = true
	for range 20 {
		require.Equal(t, []string{"ant", "bee"}, asked(systemone.SortPrice))
	}
	rt.SetCatalog(catalog) // computes the statistics again
	assert.Equal(t, []string{"bee"}, asked(systemone.SortExacto))
}
