package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// sealingKeySize is that of AES-256.
const sealingKeySize = 32

// SealingKey is a secret of the embedding program that credentials are sealed
// with. It must come from a source of randomness, not from a password, and is
// kept apart from the store.
type SealingKey struct {
	ID  string        // required; stored with every text sealed with it, so never reuse it for another key
	Key router.Secret // 32 bytes
}

// sealer seals with one key and opens with all. It holds ciphers, not keys.
type sealer struct {
	current string
	ciphers map[string]cipher.AEAD
}

// newSealer returns a sealer whose current key is the first one.
func newSealer(list []SealingKey) (*sealer, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: SealingKeys is required", ErrConfig)
	}
	s := &sealer{current: list[0].ID, ciphers: make(map[string]cipher.AEAD, len(list))}
	for i, k := range list {
		switch _, twice := s.ciphers[k.ID]; {
		case k.ID == "":
			return nil, fmt.Errorf("%w: SealingKeys[%d] has no ID", ErrConfig, i)
		case twice:
			return nil, fmt.Errorf("%w: SealingKeys[%d]: %q is there twice", ErrConfig, i, k.ID)
		case len(k.Key) != sealingKeySize:
			return nil, fmt.Errorf("%w: SealingKeys[%d]: a key has %d bytes, not %d", ErrConfig, i, sealingKeySize, len(k.Key))
		}
		block, err := aes.NewCipher([]byte(k.Key))
		if err != nil {
			return nil, fmt.Errorf("%w: SealingKeys[%d]: %w", ErrConfig, i, err)
		}
		if s.ciphers[k.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("%w: SealingKeys[%d]: %w", ErrConfig, i, err)
		}
	}
	return s, nil
}

// seal encrypts a text with the current key and binds it to its credential.
func (s *sealer) seal(c Credential, text router.Secret) Sealed {
	sealed := s.ciphers[s.current].Seal(nil, nil, []byte(text), place(c)) //nolint:gosec // the cipher draws a nonce itself
	return Sealed{KeyID: s.current, Text: sealed}
}

// open decrypts a text that was sealed for this credential. Any other text is
// ErrSealed.
func (s *sealer) open(c StoredCredential) (router.Secret, error) {
	aead := s.ciphers[c.Sealed.KeyID]
	if aead == nil {
		return "", fmt.Errorf("%w: credential %s: no key %q", ErrSealed, c.ID, c.Sealed.KeyID)
	}
	text, err := aead.Open(nil, nil, c.Sealed.Text, place(c.Credential))
	if err != nil {
		return "", fmt.Errorf("%w: credential %s with key %q", ErrSealed, c.ID, c.Sealed.KeyID)
	}
	return router.Secret(text), nil
}

// place returns the additional data that binds a sealed text to its credential. So
// an attacker who can write to the store can neither move the text to another
// credential nor move the credential to another account, workspace or provider.
func place(c Credential) []byte {
	// An id or slug contains no NUL, so different places give different data.
	return []byte("credential\x00" + c.ID + "\x00" + c.Workspace + "\x00" + c.Provider + "\x00" + c.Account)
}
