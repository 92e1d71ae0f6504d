package keys

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/router"
)

const (
	credentialsFresh = 10 * time.Second // how long a change of another process may go unseen
	credentialScopes = 10_000           // workspaces whose credentials are kept
)

// Intercept adds to a call the credentials of its workspace that its key and its
// key's creator may use, the oldest first. The router matches them with endpoints.
//
// It fails when the store fails or when a credential of the workspace cannot be
// opened. Without the credential the account would be charged for what it means
// to pay the provider itself.
func (s *Credentials) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		own, err := s.cache.Get(ctx, scope{c.Principal.Account, c.Principal.Workspace})
		if err != nil {
			return nil, fmt.Errorf("keys: own credentials: %w", err)
		}
		for _, offer := range own {
			offer(c)
		}
		return next(ctx, c)
	}
}

// offer adds a credential to a call that may use it. It is a closure so that the
// secret cannot be printed with whatever structure holds it.
type offer func(c *router.Call)

func newOffer(c StoredCredential, id uuid.UUID, secret router.Secret) offer {
	return func(call *router.Call) {
		p := &call.Principal
		if c.KeyHashes != nil && !slices.Contains(c.KeyHashes, p.KeyHash) {
			return
		}
		if c.Members != nil && (p.Member == "" || !slices.Contains(c.Members, p.Member)) {
			return
		}
		call.Credentials = append(call.Credentials, router.Credential{
			ID: id, Provider: c.Provider, Models: c.Models, Fallback: c.Fallback, Secret: secret,
		})
	}
}

// scope is a workspace of an account.
type scope struct{ account, workspace string }

// newCache returns the cache of [Credentials.load].
func (s *Credentials) newCache() *cache.Cache[scope, []offer] {
	return cache.New(cache.Config[scope, []offer]{Load: s.load, TTL: credentialsFresh, Max: credentialScopes, Now: s.cfg.Now})
}

// load reads the enabled credentials of a workspace for the cache.
func (s *Credentials) load(ctx context.Context, at scope) ([]offer, error) {
	list, err := s.cfg.Store.Enabled(ctx, at.account, at.workspace)
	if err != nil {
		return nil, err
	}
	own := make([]offer, len(list))
	for i, c := range list {
		secret, err := s.sealer.open(c)
		if err != nil {
			return nil, err
		}
		id, err := uuid.Parse(c.ID)
		if err != nil {
			return nil, fmt.Errorf("credential %q: %w", c.ID, err)
		}
		own[i] = newOffer(c, id, secret)
	}
	return own, nil
}

// forget makes a change of a workspace's credentials act on the next call.
func (s *Credentials) forget(account, workspace string) { s.cache.Forget(scope{account, workspace}) }
