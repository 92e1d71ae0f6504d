package signalbox_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// TestOwnSignIn: callers whom the program knows by itself need no keys over HTTP, are
// put into the default workspace, and are held by its rates and limits.
func TestOwnSignIn(t *testing.T) {
	t.Parallel()
	g := answering(t, func(cfg *signalbox.Config) {
		cfg.Keys.Rates.Workspace = keys.Rate{Requests: 3, Per: time.Hour}
		cfg.API.SignIn = func(r *http.Request) (router.Principal, error) {
			return router.Principal{Account: r.Header.Get("X-Account"), Member: r.Header.Get("X-Member")}, nil
		}
	})
	ask := func(account, member string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone", strings.NewReader(
			`{"model":"acme/judge","state":"x","questions":{"q":{"type":"noul","instructions":"?"}}}`))
		require.NoError(t, err)
		r.Header.Set("X-Account", account)
		r.Header.Set("X-Member", member)
		w := g.serve(r)
		return w.Code, w.Body.String()
	}
	status, said := ask(demo.Account, demo.Member)
	require.Equal(t, 200, status, said)
	who := router.Principal{Account: demo.Account, Workspace: g.seeded.Home.ID, Member: demo.Member}
	for _, o := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember} {
		assert.Equal(t, router.Dollar/100, g.spent(t, o, who))
	}
	status, said = ask("nobody", "")
	assert.Equal(t, 401, status, said)
	status, said = ask("", "")
	assert.Equal(t, 401, status, said)
	assert.Contains(t, said, "Missing Authentication header")
	status, said = ask("", demo.Member)
	assert.Equal(t, 500, status, "%s: it would be the program itself", said)
	_, err := g.Organization.TopUp(t.Context(), demo.Program(), "payment-1", 1)
	require.NoError(t, err)
	status, said = ask(demo.Account, demo.Admin)
	assert.Equal(t, 402, status, said)
	_, _ = ask(demo.Account, demo.Admin)
	status, said = ask(demo.Account, demo.Member)
	assert.Equal(t, 429, status, said)
}

// TestASignedInCallerIsSomebody: an account or a workspace that does not exist is
// refused by every route alike, and a storage that fails is not the caller's fault.
func TestASignedInCallerIsSomebody(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	g := answering(t, func(cfg *signalbox.Config) {
		cfg.Stores.Organization = failing{cfg.Stores.Organization, &away}
		cfg.API.SignIn = func(r *http.Request) (router.Principal, error) {
			return router.Principal{Account: r.Header.Get("X-Account"), Workspace: r.Header.Get("X-Workspace"), Management: true}, nil
		}
	})
	_, err := g.Organization.CreateAccount(t.Context(), router.Actor{}, organization.NewAccount{
		ID: "rival", Name: "Rival", Owner: organization.Member{ID: "user_eve", Email: "eve@example.org"},
	})
	require.NoError(t, err)
	foreign, err := g.Organization.DefaultWorkspace(t.Context(), "rival")
	require.NoError(t, err)
	get := func(path, account, workspace string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1"+path, http.NoBody)
		r.Header.Set("X-Account", account)
		r.Header.Set("X-Workspace", workspace)
		w := g.serve(r)
		return w.Code, w.Body.String()
	}
	for _, path := range []string{"/models", "/models/user", "/keys", "/credits", "/presets"} {
		for _, who := range [][2]string{{"nobody", ""}, {"nobody", foreign}, {demo.Account, foreign}, {demo.Account, "default"}, {"\xff", ""}, {demo.Account, "\xff"}} {
			status, said := get(path, who[0], who[1])
			assert.Equal(t, 401, status, "%s %q: %s", path, who, said)
		}
		status, said := get(path, demo.Account, g.seeded.Lab.ID)
		assert.Equal(t, 200, status, "%s: %s", path, said)
	}
	away.Store(true)
	status, said := get("/models", "unread", "")
	assert.Equal(t, 500, status, "%s: who reads 401 throws a sound session away", said)
}

// failing fails to read accounts while it is away.
type failing struct {
	organization.Store
	away *atomic.Bool
}

func (s failing) Account(ctx context.Context, id string) (organization.Account, error) {
	if s.away.Load() {
		return organization.Account{}, errDown
	}
	return s.Store.Account(ctx, id)
}
