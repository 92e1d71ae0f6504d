package keys

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/router"
)

// longestText is that of a key with the longest prefix.
const longestText = 32 + len("-v1-") + 64

// Authenticate says on whose behalf the holder of secret acts. It returns
// ErrRefused, ErrDisabled or ErrExpired, or the store's failure. Malformed
// texts take the same work as unknown ones.
//
// What the store said of a key is believed for ten seconds, and for five
// minutes while the store fails; that it has no such key for two seconds.
// Changes made through this Service act at once, and a key expires on the
// instant. What a change made elsewhere says of limits, and of keys that may no
// longer be used, acts before money is spent ([Service.Intercept]).
func (s *Service) Authenticate(ctx context.Context, secret router.Secret) (router.Principal, error) {
	d := digestOfText(string(secret))
	e, err := s.lookup(ctx, &d)
	if err != nil {
		return router.Principal{}, err
	}
	return e.principal, nil
}

// lookup returns a key that may be used now.
func (s *Service) lookup(ctx context.Context, d *digest) (*entry, error) {
	e, err := s.cache.get(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("keys: authenticate: %w", err)
	}
	return e, e.usable(s.cfg.Now)
}

// digestOfText hashes a text. Those that could be a key are hashed on the
// stack.
func digestOfText(text string) digest {
	var room [longestText]byte
	if len(text) > len(room) {
		return sha256.Sum256([]byte(text))
	}
	return sha256.Sum256(room[:copy(room[:], text)])
}

// usable says why nobody may act with the key now, or nil.
func (e *entry) usable(now func() time.Time) error {
	switch {
	case !e.known:
		return ErrRefused
	case !e.key.ExpiresAt.IsZero() && !now().Before(e.key.ExpiresAt):
		return ErrExpired // also when it is disabled: every request with it is told so
	case e.key.Disabled:
		return ErrDisabled
	}
	return nil
}

func principal(k *Key) router.Principal {
	return router.Principal{
		Account: k.Account, Workspace: k.Workspace, KeyHash: k.Hash, Member: k.Creator, Management: k.Management,
	}
}
