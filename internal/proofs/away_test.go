package proofs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/store/postgres"
)

// While the database cannot be reached every route that needs it answers 503 with
// Retry-After, never 500. Once it is back the routes work, and no unanswered call was
// charged.
func TestADatabaseThatIsAwayIsTemporary(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewMortal(t, pgtest.Config{Synced: true})
	pool, err := pgxpool.New(t.Context(), pg.DSN())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	set, err := postgres.New(t.Context(), pool, postgres.Config{})
	require.NoError(t, err)
	w := newTwo(t, engine{one: set, other: set})
	status, said := w.one.spend(w.seeded.Inference)
	require.Equal(t, http.StatusOK, status, said)

	const decision = `{"model":"` + routertest.Model + `","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`
	ask := func(method, path, body string, management bool) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+string(w.seeded.Inference))
		if management {
			r.Header.Set("Authorization", "Bearer "+string(w.seeded.Management))
		}
		rec := httptest.NewRecorder()
		w.other.Handler.ServeHTTP(rec, r)
		return rec
	}
	pg.Crash(t) // not Kill, after which open connections still answer for a moment
	for _, cached := range []bool{true, false} {
		if !cached {
			w.days.Add(1) // all caches have expired
		}
		for _, route := range []struct {
			method, path, body string
			management         bool
		}{
			{http.MethodPost, "/systemone", decision, false},
			{http.MethodGet, "/key", "", false},
			{http.MethodGet, "/keys/" + w.hash, "", true},
			{http.MethodPatch, "/keys/" + w.hash, `{"limit":5}`, true},
			{http.MethodPut, "/workspaces/default/budgets/daily", `{"limit_usd":5}`, true},
			{http.MethodGet, "/guardrails", "", true},
			{http.MethodGet, "/activity", "", true},
		} {
			got := ask(route.method, route.path, route.body, route.management)
			assert.Equal(t, http.StatusServiceUnavailable, got.Code, "%s %s: %s", route.method, route.path, got.Body)
			assert.Contains(t, got.Body.String(), "Service temporarily unavailable")
			assert.Equal(t, "5", got.Header().Get("Retry-After"), "%s %s", route.method, route.path)
			assert.NotContains(t, got.Body.String(), "connect", "nothing of the cause is told")
		}
	}
	pg.Start(t)
	got := ask(http.MethodPost, "/systemone", decision, false)
	assert.Equal(t, http.StatusOK, got.Code, got.Body)
	books := world{engine: engine{one: set, other: set}, t: t}
	p, err := w.one.Keys.Authenticate(t.Context(), w.seeded.Inference)
	require.NoError(t, err)
	stands := books.on(router.OwnerAccount.Line(p, "ever"))
	assert.Equal(t, 2*router.Dollar, stands.Spent.Credit)
	assert.Zero(t, stands.Held)
}
