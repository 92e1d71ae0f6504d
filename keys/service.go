package keys

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Config sets up a [Service].
type Config struct {
	Store  Store            // required
	Prefix string           // of new keys' text; default "sk-rt"; letters, digits and dashes, 1 to 32
	Now    func() time.Time // default time.Now
	Random io.Reader        // source of new keys; default crypto/rand
}

// Service makes and checks keys. It is safe for concurrent use.
type Service struct{ cfg Config }

// New checks cfg and fills in its defaults. A mistake is ErrConfig.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	}
	if cfg.Prefix == "" {
		cfg.Prefix = "sk-rt"
	}
	if len(cfg.Prefix) > 32 {
		return nil, fmt.Errorf("%w: Prefix is longer than 32 characters", ErrConfig)
	}
	for _, c := range []byte(cfg.Prefix) {
		if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return nil, fmt.Errorf("%w: Prefix may hold letters, digits and dashes", ErrConfig)
		}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	return &Service{cfg: cfg}, nil
}

// Create makes a key with the settings of k (its Hash, Label and CreatedAt are
// set here) and returns its text, string(secret), which cannot be had again. A
// key without a
// name, or one that has expired already, is ErrInvalid.
func (s *Service) Create(ctx context.Context, k Key) (Key, router.Secret, error) {
	now := s.cfg.Now().UTC().Truncate(time.Microsecond)
	if k.Name == "" {
		return Key{}, "", fmt.Errorf("%w: a name is required", ErrInvalid)
	}
	if !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now) {
		return Key{}, "", fmt.Errorf("%w: the expiry is not in the future", ErrInvalid)
	}
	var raw [32]byte
	if _, err := io.ReadFull(s.cfg.Random, raw[:]); err != nil {
		return Key{}, "", fmt.Errorf("keys: no randomness: %w", err)
	}
	text := s.cfg.Prefix + "-v1-" + hex.EncodeToString(raw[:])
	k.Hash, k.Label, k.CreatedAt = hash(text), text[:12]+"..."+text[len(text)-4:], now
	if err := s.cfg.Store.Create(ctx, k); err != nil {
		return Key{}, "", fmt.Errorf("keys: create: %w", err)
	}
	return k, router.Secret(text), nil
}

// Authenticate says on whose behalf the holder of secret acts. It returns
// ErrRefused, ErrDisabled or ErrExpired, or the store's failure. Malformed
// texts take the same work as unknown ones.
func (s *Service) Authenticate(ctx context.Context, secret router.Secret) (router.Principal, error) {
	k, err := s.cfg.Store.Get(ctx, hash(string(secret)))
	switch {
	case errors.Is(err, ErrNotFound):
		return router.Principal{}, ErrRefused
	case err != nil:
		return router.Principal{}, fmt.Errorf("keys: authenticate: %w", err)
	case k.Disabled:
		return router.Principal{}, ErrDisabled
	case !k.ExpiresAt.IsZero() && !s.cfg.Now().Before(k.ExpiresAt):
		return router.Principal{}, ErrExpired
	}
	return router.Principal{
		Account: k.Account, Workspace: k.Workspace, KeyHash: k.Hash, Member: k.Creator, Management: k.Management,
	}, nil
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	var digits [2 * len(sum)]byte // on the stack
	hex.Encode(digits[:], sum[:])
	return string(digits[:])
}
