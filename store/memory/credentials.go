package memory

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

var _ keys.CredentialStore = (*credentialStore)(nil)

type credentialStore struct {
	mu     sync.RWMutex
	byID   map[string]keys.StoredCredential
	orders map[accountWorkspace]int64 // the largest order ever assigned
	record func(router.Change)
}

type accountWorkspace struct{ account, workspace string }

func newCredentialStore(record func(router.Change)) *credentialStore {
	return &credentialStore{
		byID:   map[string]keys.StoredCredential{},
		orders: map[accountWorkspace]int64{},
		record: record,
	}
}

func (s *credentialStore) Create(ctx context.Context, c keys.StoredCredential, change router.Change) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := accountWorkspace{c.Account, c.Workspace}
	s.orders[at]++
	c.Order = s.orders[at]
	s.byID[c.ID] = copyCredential(c)
	s.record(change)
	return c.Order, nil
}

func (s *credentialStore) Get(ctx context.Context, account, id string) (keys.StoredCredential, error) {
	if err := ctx.Err(); err != nil {
		return keys.StoredCredential{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, err := s.find(account, id)
	return copyCredential(c), err
}

// find returns a credential. The caller holds the lock.
func (s *credentialStore) find(account, id string) (keys.StoredCredential, error) {
	c, ok := s.byID[id]
	if !ok || c.Account != account {
		return keys.StoredCredential{}, keys.ErrNoCredential
	}
	return c, nil
}

func (s *credentialStore) List(ctx context.Context, q keys.CredentialQuery) ([]keys.Credential, int, error) {
	all, err := s.of(ctx, q.Account, q.Workspace, func(c *keys.StoredCredential) bool {
		return q.Provider == "" || c.Provider == q.Provider
	})
	if err != nil {
		return nil, 0, err
	}
	from := min(q.Offset, len(all))
	page := []keys.Credential{}
	for _, c := range all[from:min(from+q.Limit, len(all))] {
		page = append(page, c.Credential)
	}
	return page, len(all), nil
}

func (s *credentialStore) Enabled(ctx context.Context, account, workspace string) ([]keys.StoredCredential, error) {
	return s.of(ctx, account, workspace, func(c *keys.StoredCredential) bool { return !c.Disabled })
}

// of returns copies of the wanted credentials of a workspace, in their order.
func (s *credentialStore) of(ctx context.Context, account, workspace string, wanted func(*keys.StoredCredential) bool) ([]keys.StoredCredential, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var list []keys.StoredCredential
	for _, c := range s.byID {
		if c.Account == account && c.Workspace == workspace && wanted(&c) {
			list = append(list, copyCredential(c))
		}
	}
	slices.SortFunc(list, func(a, b keys.StoredCredential) int { return cmp.Compare(a.Order, b.Order) })
	return list, nil
}

func (s *credentialStore) Update(ctx context.Context, c keys.StoredCredential, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(c.Account, c.ID)
	switch {
	case err != nil:
		return err
	case old.Revision != c.Revision:
		return keys.ErrCredentialChanged
	}
	c.Workspace, c.Provider, c.Order, c.CreatedAt = old.Workspace, old.Provider, old.Order, old.CreatedAt
	c.Revision++
	s.byID[c.ID] = copyCredential(c)
	s.record(change)
	return nil
}

func (s *credentialStore) Delete(ctx context.Context, account, id string, revision int64, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(account, id)
	switch {
	case err != nil:
		return err
	case old.Revision != revision:
		return keys.ErrCredentialChanged
	}
	delete(s.byID, id)
	s.record(change)
	return nil
}

func copyCredential(c keys.StoredCredential) keys.StoredCredential {
	c.Models, c.KeyHashes, c.Members = slices.Clone(c.Models), slices.Clone(c.KeyHashes), slices.Clone(c.Members)
	c.Sealed.Text = bytes.Clone(c.Sealed.Text)
	return c
}
