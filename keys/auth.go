package keys

import (
	"context"
	"crypto/sha256"

	"github.com/signalbox/signalbox/router"
)

// longestText is the length of a key with the longest prefix, in bytes.
const longestText = 32 + len("-v1-") + 64

// Authenticate returns the principal of the key whose text is secret. It returns
// ErrRefused for an unknown or malformed text, ErrDisabled, ErrExpired, or the
// error of the store. A malformed text takes as long as an unknown one.
//
// A key is kept in memory for ten seconds, for five minutes while the store fails;
// that a key does not exist, for two seconds. Changes made through this Service
// act at once, and a key expires on the instant. A change made by another process
// acts at the latest when it would spend money ([Service.Intercept]).
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

// digestOfText returns the digest of a text. It allocates only for texts that are
// too long to be a key.
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
