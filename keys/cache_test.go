package keys_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

func TestAKeyIsKeptForTenSeconds(t *testing.T) {
	b := newBench(t)
	r, secret := b.key(t, keys.Key{})
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	b.store.asked.Store(0)
	// Another process disables it.
	r.Disabled = true
	require.NoError(t, b.set.Keys.Replace(t.Context(), r.Key, router.Change{}))
	b.clock.after(10*time.Second - time.Nanosecond)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	assert.Zero(t, b.store.asked.Load(), "no read while it is fresh")
	b.clock.after(time.Nanosecond)
	_, err = b.Authenticate(t.Context(), secret)
	require.ErrorIs(t, err, keys.ErrDisabled)
}

func TestAKeyIsKeptForTenSecondsOfTheDefaultClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New().Keys
		s, err := keys.New(keys.Config{Store: store})
		require.NoError(t, err)
		<-time.After(time.Hour)
		r, secret, err := s.Create(t.Context(), router.Actor{}, keys.Key{Name: "x"})
		require.NoError(t, err)
		_, err = s.Authenticate(t.Context(), secret)
		require.NoError(t, err)
		r.Disabled = true
		require.NoError(t, store.Replace(t.Context(), r.Key, router.Change{}))
		<-time.After(10*time.Second - time.Nanosecond)
		_, err = s.Authenticate(t.Context(), secret)
		require.NoError(t, err)
		<-time.After(time.Nanosecond)
		_, err = s.Authenticate(t.Context(), secret)
		require.ErrorIs(t, err, keys.ErrDisabled)
	})
}

func TestAClockThatStepsBackKeepsNothingForLonger(t *testing.T) {
	b := newBench(t)
	_, secret := b.key(t, keys.Key{})
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	asked := b.store.asked.Load()
	b.clock.after(-time.Hour)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	assert.Equal(t, asked+1, b.store.asked.Load())
}

func TestChangesInTheSameProcessActAtOnce(t *testing.T) {
	b := newBench(t)
	r, secret := b.key(t, keys.Key{})
	use := func() error {
		_, err := b.Authenticate(t.Context(), secret)
		return err
	}
	require.NoError(t, use())
	_, err := b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Disabled: router.To(true)})
	require.NoError(t, err)
	require.ErrorIs(t, use(), keys.ErrDisabled)
	_, err = b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Disabled: router.To(false)})
	require.NoError(t, err)
	require.NoError(t, use())
	require.NoError(t, b.Delete(t.Context(), b.admin, r.Hash))
	require.ErrorIs(t, use(), keys.ErrRefused)
}

func TestAReadFromBeforeAChangeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r, secret := b.key(t, keys.Key{})
		hold := make(chan struct{})
		b.store.hold = hold
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = b.Authenticate(t.Context(), secret) })
		synctest.Wait() // the store has read the key and not yet answered
		b.store.mu.Lock()
		b.store.hold = nil
		b.store.mu.Unlock()
		_, err := b.Update(t.Context(), b.admin, r.Hash, keys.Patch{Disabled: router.To(true)})
		require.NoError(t, err)
		_, err = b.Authenticate(t.Context(), secret)
		require.ErrorIs(t, err, keys.ErrDisabled, "a call after the change does not join a read from before")
		close(hold)
		wg.Wait()
		_, err = b.Authenticate(t.Context(), secret)
		require.ErrorIs(t, err, keys.ErrDisabled)
	})
}

func TestAnOldKeyServesWhileTheStoreIsDown(t *testing.T) {
	b := newBench(t)
	_, secret := b.key(t, keys.Key{})
	_, brief := b.key(t, keys.Key{ExpiresAt: noon.Add(time.Minute)})
	for _, s := range []router.Secret{secret, brief} {
		_, err := b.Authenticate(t.Context(), s)
		require.NoError(t, err)
	}
	b.store.fail(errDown)
	b.clock.after(time.Minute)
	_, err := b.Authenticate(t.Context(), brief)
	require.ErrorIs(t, err, keys.ErrExpired, "the clock is asked each time")
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	asked := b.store.asked.Load()
	for range 10 {
		_, err = b.Authenticate(t.Context(), secret)
		require.NoError(t, err)
	}
	assert.Equal(t, asked, b.store.asked.Load(), "a store that is down is left alone for a while")
	b.clock.set(noon.Add(5*time.Minute - time.Nanosecond))
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	b.clock.set(noon.Add(5 * time.Minute))
	_, err = b.Authenticate(t.Context(), secret)
	require.ErrorIs(t, err, errDown)
	b.store.fail(nil)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
}

func TestAnUnknownKeyIsKeptForTwoSeconds(t *testing.T) {
	b := newBench(t)
	for range 100 {
		_, err := b.Authenticate(t.Context(), "sk-rt-v1-nobody")
		require.ErrorIs(t, err, keys.ErrRefused)
	}
	assert.EqualValues(t, 1, b.store.asked.Load())
	b.clock.after(2 * time.Second)
	_, err := b.Authenticate(t.Context(), "sk-rt-v1-nobody")
	require.ErrorIs(t, err, keys.ErrRefused)
	assert.EqualValues(t, 2, b.store.asked.Load())
	b.store.fail(errDown)
	b.clock.after(2 * time.Second)
	_, err = b.Authenticate(t.Context(), "sk-rt-v1-nobody")
	require.ErrorIs(t, err, errDown, "that a key is unknown is not kept for longer while the store fails")
}

func TestGuessingDisplacesNoKey(t *testing.T) {
	b := newBench(t)
	_, secret := b.key(t, keys.Key{})
	_, err := b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	for i := range 40_000 {
		_, err := b.Authenticate(t.Context(), router.Secret(fmt.Sprint("guess", i)))
		require.ErrorIs(t, err, keys.ErrRefused)
	}
	b.store.fail(errDown)
	_, err = b.Authenticate(t.Context(), secret)
	require.NoError(t, err)
}

func TestConcurrentCallersShareOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		_, secret := b.key(t, keys.Key{})
		b.store.hold = make(chan struct{})
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() { // the first to ask gives up
			_, err := b.Authenticate(ctx, secret)
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		for range 100 {
			wg.Go(func() {
				_, err := b.Authenticate(t.Context(), secret)
				assert.NoError(t, err, "a caller that gives up does not fail the others")
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(b.store.hold)
		wg.Wait()
		assert.EqualValues(t, 1, b.store.asked.Load())
	})
}

func TestAStoreThatPanicsEndsNothing(t *testing.T) {
	b := newBench(t)
	b.store.boom = true
	_, err := b.Authenticate(t.Context(), "x")
	require.Error(t, err)
	assert.NotErrorIs(t, err, keys.ErrRefused)
}
