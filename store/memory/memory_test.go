package memory_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/store/memory"
)

func TestKeys(t *testing.T) {
	s := memory.New().Keys
	_, err := s.Get(t.Context(), "h")
	require.ErrorIs(t, err, keys.ErrNotFound)
	require.NoError(t, s.Create(t.Context(), keys.Key{Hash: "h", Name: "n"}))
	k, err := s.Get(t.Context(), "h")
	require.NoError(t, err)
	assert.Equal(t, "n", k.Name)
	_, err = s.Get(t.Context(), "H")
	require.ErrorIs(t, err, keys.ErrNotFound, "text is compared byte for byte")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Get(ctx, "h")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.Create(ctx, keys.Key{Hash: "i"}), context.Canceled)
}

func TestOneOfManyRivalsCreatesAKey(t *testing.T) {
	s := memory.New().Keys
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if err := s.Create(t.Context(), keys.Key{Hash: "h"}); err == nil {
				won.Add(1)
			} else {
				assert.ErrorIs(t, err, keys.ErrExists)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, won.Load())
}
