package cache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/cache"
)

var (
	errLoad    = errors.New("load")
	errMissing = errors.New("missing")
)

const ttl = 10 * time.Second

// loader counts loads and answers with what set was given last.
type loader struct {
	loads int
	value int
	err   error
}

func (l *loader) set(value int, err error) { l.value, l.err = value, err }

func (l *loader) load(context.Context, string) (int, error) {
	l.loads++
	return l.value, l.err
}

// rig returns a cache and its loader. It is for a bubble of fake time.
func rig() (*cache.Cache[string, int], *loader) {
	l := &loader{}
	return cache.New(cache.Config[string, int]{
		Load: l.load, TTL: ttl, Max: 8, Missing: errMissing, MissingTTL: 2 * time.Second, Stale: time.Minute,
	}), l
}

func TestAValueIsReturnedForItsTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(1, nil)
		wants(t, c, 1, nil)
		l.set(2, nil)
		time.Sleep(ttl - 1)
		wants(t, c, 1, nil)
		time.Sleep(time.Nanosecond)
		wants(t, c, 2, nil)
		assert.Equal(t, 2, l.loads)
	})
}

func TestWhatIsMissingIsKeptForItsOwnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(0, fmt.Errorf("wrapped: %w", errMissing))
		wants(t, c, 0, errMissing)
		l.set(1, nil)
		time.Sleep(2*time.Second - 1)
		wants(t, c, 0, errMissing)
		time.Sleep(time.Nanosecond)
		wants(t, c, 1, nil)
		time.Sleep(ttl)
		l.set(0, errMissing)
		wants(t, c, 0, errMissing) // a value is not stale when the store says that it is gone
	})
}

func TestAnErrorIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(0, errLoad)
		wants(t, c, 0, errLoad)
		l.set(1, nil)
		wants(t, c, 1, nil)
	})
}

func TestAStaleValueServesWhileLoadFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(1, nil)
		wants(t, c, 1, nil)
		l.set(0, errLoad)
		time.Sleep(ttl)
		for range 10 {
			wants(t, c, 1, nil)
		}
		assert.Equal(t, 2, l.loads, "a store that fails is asked once a second")
		time.Sleep(time.Minute - ttl - 1)
		wants(t, c, 1, nil)
		time.Sleep(time.Nanosecond)
		wants(t, c, 0, errLoad)
		l.set(2, nil)
		wants(t, c, 2, nil)
	})
}

func TestAForgottenValueIsNotStaleEither(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(1, nil)
		wants(t, c, 1, nil)
		l.set(0, errLoad)
		c.Forget("k")
		wants(t, c, 0, errLoad)
	})
}

func TestRenewReturnsNoValueThatIsKnownToBeOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, l := rig()
		l.set(1, nil)
		wants(t, c, 1, nil)
		l.set(2, nil)
		for range 3 { // the first one loads, and the others find what it loaded
			got, err := c.Renew(t.Context(), "k", func(v int) bool { return v == 1 })
			require.NoError(t, err)
			assert.Equal(t, 2, got)
		}
		assert.Equal(t, 2, l.loads)
	})
}

func TestAClockThatStepsBackKeepsNothingForLonger(t *testing.T) {
	l, now := &loader{value: 1}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := cache.New(cache.Config[string, int]{Load: l.load, TTL: ttl, Max: 1, Now: func() time.Time { return now }})
	wants(t, c, 1, nil)
	l.set(2, nil)
	now = now.Add(-1)
	wants(t, c, 2, nil)
}

// TestTheCacheIsBounded fills a cache many times over: what it keeps is no more
// than Max values, and guesses at what is missing displace none of them.
func TestTheCacheIsBounded(t *testing.T) {
	loads := 0
	c := cache.New(cache.Config[int, int]{
		Load: func(_ context.Context, key int) (int, error) {
			loads++
			if key < 0 {
				return 0, errMissing
			}
			return key, nil
		},
		TTL: ttl, Max: 8, Missing: errMissing, MissingTTL: ttl,
	})
	get := func(from, to int) (n int) {
		before := loads
		for key := from; key < to; key++ {
			_, err := c.Get(t.Context(), key)
			assert.Equal(t, key < 0, errors.Is(err, errMissing))
		}
		return loads - before
	}
	assert.Equal(t, 9, get(0, 9))
	assert.Positive(t, get(0, 9), "one more than Max is not kept")
	get(0, 1)
	assert.Equal(t, 1000, get(-1000, 0))
	assert.Zero(t, get(0, 1), "guesses displace no value")
	kept := 0
	for key := -1000; key < 0; key++ {
		kept += 1 - get(key, key+1)
	}
	assert.LessOrEqual(t, kept, 2, "Max/4 are kept of what is missing")
	assert.Equal(t, 1000, get(1000, 2000))
	assert.GreaterOrEqual(t, get(1000, 2000), 1000-8)
}

// TestManyKeysShareASlot has more values than can be found without a lock.
func TestManyKeysShareASlot(t *testing.T) {
	loads := 0
	c := cache.New(cache.Config[int, int]{
		Load: func(_ context.Context, key int) (int, error) { loads++; return key, nil }, TTL: time.Hour, Max: 5000,
	})
	for range 2 {
		for key := range 5000 {
			got, err := c.Get(t.Context(), key)
			require.NoError(t, err)
			require.Equal(t, key, got)
		}
	}
	assert.Equal(t, 5000, loads)
	c.ForgetFunc(func(key int) bool { return key%2 == 0 })
	for key := range 5000 {
		_, err := c.Get(t.Context(), key)
		require.NoError(t, err)
	}
	assert.Equal(t, 7500, loads)
}

// TestEveryWaiterGetsHowTheLoadEnded has 20 callers wait for one load, however it
// ends, and then loads again.
func TestEveryWaiterGetsHowTheLoadEnded(t *testing.T) {
	for name, end := range map[string]struct {
		load func() (int, error)
		want string // in the error
	}{
		"a value":     {func() (int, error) { return 7, nil }, ""},
		"an error":    {func() (int, error) { return 0, errLoad }, "load"},
		"a panic":     {func() (int, error) { panic("boom") }, "panic: boom"},
		"a nil panic": {func() (int, error) { panic(nil) }, "panic"}, //nolint:govet // what it is for
		"no return":   {func() (int, error) { runtime.Goexit(); return 0, nil }, "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all sync.WaitGroup
				open, loads := make(chan struct{}), 0
				c := cache.New(cache.Config[string, int]{
					Load: func(context.Context, string) (int, error) { loads++; <-open; return end.load() }, TTL: ttl, Max: 8,
				})
				for range 20 {
					all.Go(func() {
						n, err := c.Get(t.Context(), "k")
						if end.want == "" {
							assert.Equal(t, 7, n)
							assert.NoError(t, err)
							return
						}
						assert.Zero(t, n)
						assert.ErrorContains(t, err, end.want)
					})
				}
				synctest.Wait()
				close(open)
				all.Wait()
				assert.Equal(t, 1, loads)
				c.Forget("k")
				_, _ = c.Get(t.Context(), "k")
				assert.Equal(t, 2, loads, "the next one begins anew")
			})
		})
	}
}

// TestAValueThatIsKeptIsNotLoadedAgain has callers find nothing just before a load ends:
// they return what it has kept.
func TestAValueThatIsKeptIsNotLoadedAgain(t *testing.T) {
	const keys = 2000
	var loads atomic.Int64
	c := cache.New(cache.Config[int, int]{
		Load: func(_ context.Context, key int) (int, error) { loads.Add(1); return key, nil }, TTL: time.Hour, Max: keys,
	})
	for key := range keys {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got, err := c.Get(t.Context(), key); err != nil || got != key {
					t.Errorf("got %d, %v", got, err)
				}
			})
		}
		all.Wait()
	}
	assert.EqualValues(t, keys, loads.Load())
}

// TestAForgottenLoadIsNotJoined forgets a key while a load of it is under way:
// the next caller loads anew, and the end of the old load keeps nothing.
func TestAForgottenLoadIsNotJoined(t *testing.T) {
	for name, forget := range map[string]func(c *cache.Cache[string, int]){
		"one":   func(c *cache.Cache[string, int]) { c.Forget("k") },
		"match": func(c *cache.Cache[string, int]) { c.ForgetFunc(func(key string) bool { return key == "k" }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var all sync.WaitGroup
				loads, open := 0, []chan struct{}{make(chan struct{}), make(chan struct{})}
				c := cache.New(cache.Config[string, int]{Load: func(context.Context, string) (int, error) {
					n := loads
					loads++
					<-open[n]
					return n, nil
				}, TTL: ttl, Max: 8})
				for n := range open {
					all.Go(func() { assert.Equal(t, n, value(t, c)) })
					synctest.Wait()
					if n == 0 {
						forget(c)
					}
				}
				close(open[0])
				synctest.Wait()
				all.Go(func() { assert.Equal(t, 1, value(t, c), "it joins the load that is under way") })
				synctest.Wait()
				close(open[1])
				all.Wait()
				assert.Equal(t, 1, value(t, c))
				assert.Equal(t, 2, loads)
			})
		})
	}
}

func value(t *testing.T, c *cache.Cache[string, int]) int {
	t.Helper()
	got, err := c.Get(t.Context(), "k")
	assert.NoError(t, err)
	return got
}

func TestALoadOutlivesTheCallerThatBeganIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[string, int]{
			Load: func(ctx context.Context, _ string) (int, error) { <-ctx.Done(); return 0, ctx.Err() }, TTL: ttl, Max: 8,
		})
		first, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := c.Get(first, "k")
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		began := time.Now()
		all.Go(func() {
			_, err := c.Get(t.Context(), "k")
			assert.ErrorIs(t, err, context.DeadlineExceeded) //nolint:testifylint // not the goroutine of the test
			assert.Equal(t, 5*time.Second, time.Since(began), "the deadline is that of the load")
		})
		synctest.Wait()
		cancel()
		all.Wait()
	})
}

func wants(t *testing.T, c *cache.Cache[string, int], value int, want error) {
	t.Helper()
	got, err := c.Get(t.Context(), "k")
	require.ErrorIs(t, err, want)
	require.Equal(t, value, got)
}

func BenchmarkHit(b *testing.B) {
	type place struct{ account, workspace string }
	c := cache.New(cache.Config[place, *int]{
		Load: func(context.Context, place) (*int, error) { return new(int), nil }, TTL: time.Hour, Max: 8,
	})
	key := place{"account-1", "workspace-1"}
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = c.Get(b.Context(), key)
		}
	})
	b.Run("many at once", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = c.Get(b.Context(), key)
			}
		})
	})
}

func TestAHitAllocatesNothing(t *testing.T) {
	l := &loader{value: 1}
	c := cache.New(cache.Config[string, int]{Load: l.load, TTL: time.Hour, Max: 8})
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = c.Get(t.Context(), "k") }))
}
