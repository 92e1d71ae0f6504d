package signalbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
)

// TestADryRunNamesTheLimit: a dry run names the limit that would refuse the call, and
// changes nothing.
func TestADryRunNamesTheLimit(t *testing.T) {
	names := map[string]string{
		"credits": "credits", "key limit": "key_limit", "workspace budget": "workspace_budget", "guardrail budget": "guardrail_budget", "attempts": "",
	}
	for _, c := range checks() {
		want, ok := names[c.name]
		if !ok {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			g := newGateway(t, keys.RateLimits{})
			c.spoil(t, g, &ask{})
			before, err := g.Organization.Credits(t.Context(), demo.Account)
			require.NoError(t, err)

			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone", strings.NewReader(
				`{"model":"acme/judge","state":"x","session_id":"s","questions":{"q":{"type":"noul","instructions":"?"}}}`))
			r.Header.Set("Authorization", "Bearer "+string(g.seeded.Inference))
			r.Header.Set("X-Router-Dry-Run", "true")
			w := httptest.NewRecorder()
			g.Handler.ServeHTTP(w, r)
			require.Equal(t, http.StatusOK, w.Code, w.Body)
			var got struct {
				DryRun   bool `json:"dry_run"`
				Metadata struct {
					Endpoints struct {
						Available []struct {
							MaxCost   json.Number `json:"max_cost"`
							RefusedBy string      `json:"refused_by"`
						} `json:"available"`
					} `json:"endpoints"`
				} `json:"router_metadata"`
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
			assert.True(t, got.DryRun)
			require.Len(t, got.Metadata.Endpoints.Available, 1)
			assert.Equal(t, "0.01", got.Metadata.Endpoints.Available[0].MaxCost.String())
			assert.Equal(t, want, got.Metadata.Endpoints.Available[0].RefusedBy)

			assert.Zero(t, g.upstream.asked)
			after, err := g.Organization.Credits(t.Context(), demo.Account)
			require.NoError(t, err)
			assert.Equal(t, before, after)
			items, err := g.Activity.Items(t.Context(), demo.Account, activity.Query{})
			require.NoError(t, err)
			assert.Empty(t, items)
		})
	}
}
