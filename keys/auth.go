package keys

import (
	"context"
	"crypto/sha256"

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
	k, err := s.lookup(ctx, d)
	if err != nil {
		return router.Principal{}, err
	}
	return k.principal, nil
}

// lookup returns a key that may be used now.
func (s *Service) lookup(ctx context.Context, d digest) (*known, error) {
	return s.admit(s.cache.Get(ctx, d))
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

func principal(k *Key) router.Principal {
	return router.Principal{
		Account: k.Account, Workspace: k.Workspace, KeyHash: k.Hash, Member: k.Creator, Management: k.Management,
	}
}
