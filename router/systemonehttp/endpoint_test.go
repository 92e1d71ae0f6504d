package systemonehttp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// rounded answers one question in two decimals, which do not add up to one.
func rounded(r *http.Request) (*http.Response, error) {
	const body = `{"model":"m","answers":{"desk":{"type":"choice","choice":"a","confidence":0.33,` +
		`"probabilities":{"a":0.33,"b":0.33,"c":0.33}}},"usage":{"input_tokens":1,"output_tokens":1}}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

func askDesk(t *testing.T, c *systemonehttp.Client, e router.Endpoint) error {
	t.Helper()
	catalog, err := router.Single(c, e)
	require.NoError(t, err)
	rt, err := router.New(router.Config{Catalog: catalog})
	require.NoError(t, err)
	_, err = rt.Decide(t.Context(), &router.Call{Request: &systemone.Request{
		Model: e.Model, State: systemone.Text("Paid twice."),
		Questions: []systemone.Question{{
			Name: "desk", Kind: systemone.Choice, Instructions: systemone.Text("Who?"),
			Options: []systemone.Option{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		}},
	}})
	return err
}

// TestEndpointsTolerateWhatTheirUpstreamRounds: an endpoint's tolerance fits its
// upstream without configuration, even where no profile was chosen.
func TestEndpointsTolerateWhatTheirUpstreamRounds(t *testing.T) {
	for name, p := range map[string]systemonehttp.Profile{"ready": systemonehttp.TypeSafe(), "zero": {}} {
		c := client(t, p, &tripper{answer: rounded})
		e := c.Endpoint("ant", "acme/judge", "tev-1")
		require.NoError(t, askDesk(t, c, e), name)
		e.Tolerance = systemone.Tolerance{}
		require.Error(t, askDesk(t, c, e), "the answers do need it")
	}
}

// TestEndpointHasWhatTheProfileStates, and the names that the caller gave.
func TestEndpointHasWhatTheProfileStates(t *testing.T) {
	for _, p := range systemonehttp.Profiles() {
		e := client(t, p, nil).Endpoint("ant", "acme/judge", "j-1")
		want := router.Endpoint{
			Provider: "ant", Model: "acme/judge", UpstreamModel: "j-1",
			ContextLength: p.ContextLength, Limits: p.Limits, Tolerance: p.Tolerance, Counting: p.Counting,
		}
		if p.User != "" {
			want.Parameters = []string{"user"}
		}
		assert.Equal(t, want, e, p.Name)
		assert.Equal(t, e, p.Endpoint("ant", "acme/judge", "j-1"), p.Name)
		_, err := router.NewCatalog(
			[]router.Model{{ID: "acme/judge", Permaslug: "acme/judge-20260901"}},
			[]router.ProviderInfo{{Slug: "ant", Client: client(t, p, nil)}}, []router.Endpoint{e})
		require.NoError(t, err, p.Name)
	}
}
