package memory

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

var _ keys.Store = (*keyStore)(nil)

type keyStore struct {
	record func(router.Change)
	book   *book // keeps the versions of limits

	mu     sync.RWMutex
	byHash map[string]keys.Key
}

func newKeyStore(record func(router.Change), b *book) *keyStore {
	return &keyStore{record: record, book: b, byHash: map[string]keys.Key{}}
}

func (s *keyStore) Create(ctx context.Context, k keys.Key, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.byHash[k.Hash]; taken {
		return keys.ErrExists
	}
	s.byHash[k.Hash] = copyKey(k)
	s.record(change)
	return nil
}

func (s *keyStore) Get(ctx context.Context, hash string) (keys.Key, error) {
	if err := ctx.Err(); err != nil {
		return keys.Key{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	k, ok := s.byHash[hash]
	if !ok {
		return keys.Key{}, keys.ErrNotFound
	}
	return copyKey(k), nil
}

func (s *keyStore) Replace(ctx context.Context, k keys.Key, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.current(k); err != nil {
		return err
	}
	k.Version++
	s.byHash[k.Hash] = copyKey(k)
	s.raise(k)
	s.record(change)
	return nil
}

// raise raises the version of a key's limits.
func (s *keyStore) raise(k keys.Key) {
	of := router.OwnerKey.Line(router.Principal{KeyHash: k.Hash}, ever)
	s.book.outdate(router.Version{Line: of, N: k.Version})
}

func (s *keyStore) Delete(ctx context.Context, k keys.Key, change router.Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.current(k); err != nil {
		return err
	}
	delete(s.byHash, k.Hash)
	k.Version++
	s.raise(k)
	s.record(change)
	return nil
}

// current returns nil if k has the stored version, else the error that applies.
func (s *keyStore) current(k keys.Key) error {
	switch stored, ok := s.byHash[k.Hash]; {
	case !ok, stored.Account != k.Account:
		return keys.ErrNotFound
	case stored.Version != k.Version:
		return keys.ErrConflict
	}
	return nil
}

func (s *keyStore) List(ctx context.Context, account string, q keys.Query) ([]keys.Key, error) {
	list, err := s.find(ctx, func(k keys.Key) bool {
		return k.Account == account && k.Management == q.Management && (q.Management || k.Workspace == q.Workspace) &&
			(q.IncludeDisabled || !k.Disabled)
	})
	slices.SortFunc(list, func(a, b keys.Key) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Hash, b.Hash))
	})
	from := min(max(q.Offset, 0), len(list))
	return slices.Clip(list[from:min(from+max(q.Limit, 0), len(list))]), err
}

func (s *keyStore) CountIn(ctx context.Context, account, workspace string) (int, error) {
	list, err := s.find(ctx, func(k keys.Key) bool {
		return k.Account == account && !k.Management && k.Workspace == workspace
	})
	return len(list), err
}

func (s *keyStore) CountOf(ctx context.Context, account, workspace, creator string) (int, error) {
	list, err := s.find(ctx, func(k keys.Key) bool {
		return k.Account == account && k.Creator == creator && (workspace == "" || !k.Management && k.Workspace == workspace)
	})
	return len(list), err
}

// find returns the keys that fit, in no particular order.
func (s *keyStore) find(ctx context.Context, fits func(keys.Key) bool) ([]keys.Key, error) {
	list := []keys.Key{}
	if err := ctx.Err(); err != nil {
		return list, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, k := range s.byHash {
		if fits(k) {
			list = append(list, copyKey(k))
		}
	}
	return list, nil
}

// copyKey returns a copy that shares nothing with k.
func copyKey(k keys.Key) keys.Key {
	if k.Limit != nil {
		k.Limit = new(*k.Limit)
	}
	return k
}
