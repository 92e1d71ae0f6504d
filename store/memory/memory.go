// Package memory keeps everything in the process. It is for tests, for
// examples and for programs that can afford to forget.
package memory

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/store"
)

// New returns an empty storage, safe for concurrent use.
func New() store.Set {
	audit := newAuditStore()
	return store.Set{
		Activity:     newActivityStore(),
		Keys:         &keyStore{byHash: map[string]keys.Key{}},
		Guardrails:   newGuardrailStore(audit.record),
		Audit:        audit,
		Presets:      newPresetStore(audit.record),
		Ledger:       newLedger(),
		Organization: newOrganizationStore(audit.record),
		Credentials:  newCredentialStore(audit.record),
	}
}

var _ keys.Store = (*keyStore)(nil)

type keyStore struct {
	mu     sync.RWMutex
	byHash map[string]keys.Key
}

func (s *keyStore) Create(ctx context.Context, k keys.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.byHash[k.Hash]; taken {
		return keys.ErrExists
	}
	s.byHash[k.Hash] = k
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
	return k, nil
}
