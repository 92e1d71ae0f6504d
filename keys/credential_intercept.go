package keys

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/flight"
	"github.com/signalbox/signalbox/router"
)

const (
	// credentialsFresh is how long a change of another process may go unseen.
	credentialsFresh = 10 * time.Second
	// credentialsWait bounds one reading of the store.
	credentialsWait = 5 * time.Second
	// credentialScopes bounds the workspaces that are remembered.
	credentialScopes = 10_000
)

// Intercept gives a call the credentials of its account's workspace that its
// key and its key's creator may use, the oldest first. Which of them fit the
// endpoints, the router finds out.
//
// It fails when the store does, or when one of the workspace's credentials
// cannot be opened: going on without it would charge the account for what it
// means to pay elsewhere.
func (s *Credentials) Intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		own, err := s.own(ctx, c.Principal.Account, c.Principal.Workspace)
		if err != nil {
			return nil, fmt.Errorf("keys: own credentials: %w", err)
		}
		for _, offer := range own {
			offer(c)
		}
		return next(ctx, c)
	}
}

// offer gives a credential to a call that may use it. It is a function because
// nothing that prints what holds it, however deep, can see what it knows.
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

// own returns what a workspace has, as it was at most 10 s ago.
func (s *Credentials) own(ctx context.Context, account, workspace string) ([]offer, error) {
	at := scope{account, workspace}
	if own, fresh := s.cache.get(at, s.cfg.Now()); fresh {
		return own, nil
	}
	// One reading serves all who wait for it, so it must not end with the first.
	return s.cache.flights.Do(ctx, at.flight(), credentialsWait, func(ctx context.Context) ([]offer, error) { return s.read(ctx, at) })
}

func (s *Credentials) read(ctx context.Context, at scope) ([]offer, error) {
	now, changes := s.cfg.Now(), s.cache.count()
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
	s.cache.put(at, known{own, now}, changes)
	return own, nil
}

// credentialCache remembers what workspaces have. The zero value is empty.
type credentialCache struct {
	flights flight.Group[[]offer]
	mu      sync.RWMutex
	known   map[scope]known
	changes uint64 // of this process
}

type scope struct{ account, workspace string }

func (s scope) flight() string { return s.account + "\x00" + s.workspace }

type known struct {
	own []offer
	at  time.Time
}

func (c *credentialCache) get(at scope, now time.Time) ([]offer, bool) {
	c.mu.RLock()
	k, found := c.known[at]
	c.mu.RUnlock()
	age := now.Sub(k.at)
	return k.own, found && age >= 0 && age < credentialsFresh // a clock may step back
}

func (c *credentialCache) count() uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changes
}

// put remembers what was read, unless something has changed since.
func (c *credentialCache) put(at scope, k known, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	if c.known == nil || len(c.known) >= credentialScopes {
		c.known = make(map[scope]known)
	}
	c.known[at] = k
}

// forget makes the next call read the store, also where another reading is on
// its way.
func (c *credentialCache) forget(account, workspace string) {
	at := scope{account, workspace}
	c.mu.Lock()
	c.changes++
	delete(c.known, at)
	c.mu.Unlock()
	c.flights.Forget(at.flight())
}
