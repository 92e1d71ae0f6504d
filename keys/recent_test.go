package keys_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// TestMoreKeysThanSlots has more keys than the cache finds without a lock.
func TestMoreKeysThanSlots(t *testing.T) {
	b := newBench(t)
	asked := b.store.asked.Load()
	secrets := map[string]router.Secret{}
	for len(secrets) < 1100 {
		r, secret := b.key(t, keys.Key{})
		secrets[r.Hash] = secret
	}
	for range 2 {
		for hash, secret := range secrets {
			p, err := b.Authenticate(t.Context(), secret)
			require.NoError(t, err)
			require.Equal(t, hash, p.KeyHash)
		}
	}
	require.EqualValues(t, len(secrets), b.store.asked.Load()-asked, "each once")
	for hash, secret := range secrets {
		_, err := b.Authenticate(t.Context(), secret)
		require.NoError(t, err)
		require.NoError(t, b.Delete(t.Context(), b.admin, hash))
		_, err = b.Authenticate(t.Context(), secret)
		require.ErrorIs(t, err, keys.ErrRefused)
	}
}
