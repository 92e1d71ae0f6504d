package similarity

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// class returns the class of the upstream error err, or "" for nil.
func class(t *testing.T, err error) router.Class {
	t.Helper()
	if err == nil {
		return ""
	}
	failed, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok, "%v", err)
	return failed.Class
}

// TestFullQueue holds that requests wait until the queue is full and that the next one is
// refused at once. The bubble of synctest fails if a goroutine is left behind.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := newProvider(t, Config{Workers: 2, Queue: 3, Encoder: scripted(func(context.Context, string) ([]float32, error) {
			<-release
			return []float32{1}, nil
		})})
		outcomes := make(chan error, 5)
		for range 5 {
			go func() {
				_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
				outcomes <- err
			}()
		}
		synctest.Wait()
		for range 3 {
			_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
			require.Equal(t, router.ProviderOverloaded, class(t, err))
		}
		close(release)
		for range 5 {
			require.NoError(t, <-outcomes)
		}
		_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
		require.NoError(t, err, "there is room again")
	})
}

func TestNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := newProvider(t, Config{Workers: 1, Queue: -1, Encoder: scripted(func(context.Context, string) ([]float32, error) {
			<-release
			return []float32{1}, nil
		})})
		done := make(chan error)
		go func() {
			_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
			done <- err
		}()
		synctest.Wait()
		_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
		require.Equal(t, router.ProviderOverloaded, class(t, err))
		close(release)
		require.NoError(t, <-done)
	})
}

// TestWorkersBoundTheWork holds that the workers bound how many texts are encoded at
// once, over all requests.
func TestWorkersBoundTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int64
		seen := make(chan int64, 100)
		p := newProvider(t, Config{Workers: 3, Encoder: scripted(func(context.Context, string) ([]float32, error) {
			seen <- now.Add(1)
			defer now.Add(-1)
			time.Sleep(time.Second) // time of the synctest bubble
			return []float32{1}, nil
		})})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf(fmt.Sprint("a", i), fmt.Sprint("b", i), "c")))
				assert.NoError(t, err)
			})
		}
		all.Wait()
		close(seen)
		var most int64
		for n := range seen {
			most = max(most, n)
		}
		assert.EqualValues(t, 3, most)
	})
}

// TestHangUp holds that a request whose context ends stops between texts, also while it
// waits, and leaves no goroutine behind.
func TestHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var encoded atomic.Int64
		p := newProvider(t, Config{Workers: 1, Encoder: scripted(func(context.Context, string) ([]float32, error) {
			encoded.Add(1)
			cancel()
			return []float32{1}, nil
		})})
		_, err := p.Decide(ctx, attempt(`"x"`, threeOf("a", "b", "c")))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, router.Timeout, class(t, err))
		assert.EqualValues(t, 1, encoded.Load(), "no other text is begun")
	})
}

func TestDeadlineWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := newProvider(t, Config{Workers: 1, Encoder: scripted(func(context.Context, string) ([]float32, error) {
			<-release
			return []float32{1}, nil
		})})
		done := make(chan error)
		go func() {
			_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "c")))
			done <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Decide(ctx, attempt(`"x"`, threeOf("a", "b", "c")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, router.Timeout, class(t, err))
		close(release)
		require.NoError(t, <-done)
	})
}

// TestParallelUse holds that concurrent requests get the same answers as single ones.
func TestParallelUse(t *testing.T) {
	p := newProvider(t, Config{})
	states := []string{`"my parcel is late"`, `"give me a refund"`, `"hello there"`}
	q := threeOf("a late parcel", "money back", "a greeting")
	want := make([]systemone.Answer, len(states))
	for i, state := range states {
		want[i] = ask(t, newProvider(t, Config{}), state, q)
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			reply, err := p.Decide(t.Context(), attempt(states[i%3], q))
			if assert.NoError(t, err) {
				assert.Equal(t, want[i%3], reply.Answers[0])
			}
		})
	}
	all.Wait()
	for i, choice := range []string{"a", "b", "c"} {
		assert.Equal(t, choice, want[i].Choice)
	}
}

// TestPhrasesAreEncodedOnce holds that a cached phrase is not encoded again, and that a
// state is never cached.
func TestPhrasesAreEncodedOnce(t *testing.T) {
	var encoded atomic.Int64
	p := newProvider(t, Config{Encoder: scripted(func(context.Context, string) ([]float32, error) {
		encoded.Add(1)
		return []float32{1}, nil
	})})
	for i := range int64(3) {
		_, err := p.Decide(t.Context(), attempt(`"x"`, threeOf("a", "b", "b"), threeOf("c", "a", "b")))
		require.NoError(t, err)
		assert.Equal(t, 3+i+1, encoded.Load())
	}
}
