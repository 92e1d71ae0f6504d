package keys

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/router"
)

// How long the cache returns what the store said, and how many keys it keeps.
const (
	freshFor   = 10 * time.Second // a key
	unknownFor = 2 * time.Second  // that there is none
	staleFor   = 5 * time.Minute  // a key, while the store fails
	maxKnown   = 1 << 16
)

// digest is the SHA-256 of a key's whole text.
type digest [sha256.Size]byte

// known is a key as the store has it, and what follows from it. It is never
// changed.
type known struct {
	key       Key
	principal router.Principal
	limits    *router.Limits
}

// newCache returns the cache of [Service.load]. now is nil where the embedding
// program gives no clock.
func (s *Service) newCache(now func() time.Time) *cache.Cache[digest, *known] {
	return cache.New(cache.Config[digest, *known]{
		Load: s.load, TTL: freshFor, Max: maxKnown,
		Missing: ErrNotFound, MissingTTL: unknownFor, Stale: staleFor, Now: now,
	})
}

// load reads a key for the cache.
func (s *Service) load(ctx context.Context, d digest) (*known, error) {
	key, err := s.find(ctx, hex.EncodeToString(d[:]))
	if err != nil {
		return nil, fmt.Errorf("keys: read: %w", err)
	}
	k := &known{key: key, principal: principal(&key)}
	k.limits = s.limits(d, k)
	return k, nil
}

// forget makes a change of a key act on the next call.
func (s *Service) forget(hash string) {
	if d, ok := digestOf(hash); ok {
		s.cache.Forget(d)
	}
}

// admit returns a key that the cache has returned if it may be used now, and
// otherwise the reason why it may not.
func (s *Service) admit(k *known, err error) (*known, error) {
	switch {
	case err == nil:
		return k, k.usable(s.cfg.Now)
	case errors.Is(err, ErrNotFound):
		return nil, ErrRefused
	}
	return nil, fmt.Errorf("keys: authenticate: %w", err)
}

// usable returns ErrExpired or ErrDisabled, or nil.
func (k *known) usable(now func() time.Time) error {
	switch {
	case !k.key.ExpiresAt.IsZero() && !now().Before(k.key.ExpiresAt):
		return ErrExpired // also when it is disabled: every request with it is told so
	case k.key.Disabled:
		return ErrDisabled
	}
	return nil
}

// digestOf reads the public id of a key.
func digestOf(hash string) (d digest, ok bool) {
	var text [2 * len(d)]byte
	if len(hash) != len(text) {
		return d, false
	}
	for i := range len(hash) {
		if c := hash[i]; 'A' <= c && c <= 'F' { // stores compare byte for byte
			return d, false
		}
	}
	copy(text[:], hash)
	_, err := hex.Decode(d[:], text[:])
	return d, err == nil
}
