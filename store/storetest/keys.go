package storetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
)

func testKeys(t *testing.T, open Open) {
	t.Helper()
	if open(t).Keys == nil {
		t.Skip("no Keys")
	}
	t.Run("a key with the same hash exists", func(t *testing.T) {
		s := open(t).Keys
		require.NoError(t, s.Create(t.Context(), keys.Key{Hash: "a"}))
		require.ErrorIs(t, s.Create(t.Context(), keys.Key{Hash: "a", Name: "b"}), keys.ErrExists)
		k, err := s.Get(t.Context(), "a")
		require.NoError(t, err)
		assert.Empty(t, k.Name)
	})
}
