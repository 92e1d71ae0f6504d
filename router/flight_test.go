package router_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// landsAfter returns a call that takes d and honours its context.
func landsAfter(d time.Duration, calls *atomic.Int64) func(context.Context) (router.Reply, error) {
	return func(ctx context.Context) (router.Reply, error) {
		calls.Add(1)
		select {
		case <-time.After(d):
			return router.Reply{ID: "landed"}, nil
		case <-ctx.Done():
			return router.Reply{}, ctx.Err()
		}
	}
}

var estimated = router.Used{Cost: 100, Input: 10}

// TestOneCallForManyCallers has 32 callers of one key, and one of another.
func TestOneCallForManyCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f router.Flights
		var all sync.WaitGroup
		var calls, speakers atomic.Int64
		for i := range 33 {
			all.Go(func() {
				l := f.Share(t.Context(), byte(i/32), false, estimated, landsAfter(time.Second, &calls))
				assert.Equal(t, "landed", l.ID)
				assert.False(t, l.Left)
				if l.Speaks {
					speakers.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 2, calls.Load())
		assert.EqualValues(t, 2, speakers.Load())
		assert.Zero(t, f.Open())
		_ = f.Share(t.Context(), 0, false, estimated, landsAfter(time.Second, &calls))
		assert.EqualValues(t, 3, calls.Load(), "a call that has ended is not joined")
	})
}

// TestACallerThatLeavesEndsNoOthersCall has the first of three callers leave, at a
// deadline or by hanging up.
func TestACallerThatLeavesEndsNoOthersCall(t *testing.T) {
	t.Parallel()
	for name, awaits := range map[string]bool{"deadline": false, "hang-up": true} {
		synctest.Test(t, func(t *testing.T) {
			var f router.Flights
			var all sync.WaitGroup
			var calls atomic.Int64
			total := router.Used{Cost: 301, Input: 31, Output: 3}
			parts := make([]router.Used, 3)
			for i := range parts {
				ctx := t.Context()
				if i == 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
					defer cancel()
				}
				all.Go(func() {
					began := time.Now()
					l := f.Share(ctx, 0, awaits, estimated, landsAfter(time.Second, &calls))
					parts[i] = l.Part(total, 1000)
					left := i == 0 && !awaits
					assert.Equal(t, left, l.Left, name)
					assert.Equal(t, left, l.Err != nil, name)
					assert.Equal(t, left, time.Since(began) < time.Second, name)
				})
				synctest.Wait()
			}
			all.Wait()
			want := []router.Used{{Cost: 101, Input: 11, Output: 1}, {Cost: 100, Input: 10, Output: 1}, {Cost: 100, Input: 10, Output: 1}}
			if !awaits {
				want = []router.Used{{Cost: 33, Input: 3}, {Cost: 134, Input: 14, Output: 2}, {Cost: 134, Input: 14, Output: 1}}
			}
			assert.Equal(t, want, parts, name)
			assert.EqualValues(t, 1, calls.Load(), name)
		})
	}
}

// TestTheLastToLeaveEndsTheCall has all callers leave, and another one come while the
// cancelled call has not ended yet.
func TestTheLastToLeaveEndsTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f router.Flights
		var all sync.WaitGroup
		var calls atomic.Int64
		var sum atomic.Int64
		for i := range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i+1)*time.Second)
			defer cancel()
			all.Go(func() {
				l := f.Share(ctx, 0, i == 1, estimated, func(ctx context.Context) (router.Reply, error) {
					calls.Add(1)
					<-ctx.Done()
					time.Sleep(time.Second)
					return router.Reply{}, ctx.Err()
				})
				assert.True(t, l.Left)
				want := map[bool]error{true: context.Canceled, false: context.DeadlineExceeded}[i > 0]
				assert.True(t, errors.Is(l.Err, want), "%v", l.Err) //nolint:testifylint // in a goroutine
				assert.Equal(t, i == 2, l.Speaks)
				sum.Add(int64(l.Part(estimated, 1000).Cost))
			})
		}
		time.Sleep(3500 * time.Millisecond)
		assert.Zero(t, f.Open())
		assert.Equal(t, "landed", f.Share(t.Context(), 0, false, estimated, landsAfter(time.Minute/2, &calls)).ID)
		assert.EqualValues(t, 2, calls.Load(), "a call that was cancelled is not joined")
		all.Wait()
		assert.EqualValues(t, estimated.Cost, sum.Load(), "together they pay one estimate")
	})
}

// TestASharedCallHasItsOwnTime: it ends after the time that it was given, although
// its callers would wait for longer.
func TestASharedCallHasItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f router.Flights
		var calls atomic.Int64
		l := f.Share(t.Context(), 0, false, estimated, landsAfter(time.Hour, &calls))
		require.ErrorIs(t, l.Err, context.DeadlineExceeded)
		assert.True(t, l.Late)
		assert.False(t, l.Left)
	})
}

// TestAProviderThatPanicsReachesAllCallers: each gets an error, and one of them is to
// report it.
func TestAProviderThatPanicsReachesAllCallers(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){"panic": func() { panic("boom") }, "goexit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			var f router.Flights
			var all sync.WaitGroup
			var speakers atomic.Int64
			for range 8 {
				all.Go(func() {
					l := f.Share(t.Context(), 0, false, estimated, func(context.Context) (router.Reply, error) {
						time.Sleep(time.Second)
						end()
						return router.Reply{}, nil
					})
					if l.Err == nil {
						t.Errorf("%s: no error", name)
					}
					if l.Speaks {
						speakers.Add(1)
					}
				})
			}
			all.Wait()
			assert.EqualValues(t, 1, speakers.Load(), name)
			assert.Zero(t, f.Open())
		})
	}
}

// journey is when one caller of a property test comes, how long it stays and how it
// leaves.
type journey struct {
	comes, stays time.Duration
	awaits       bool
}

func drawJourney(r *rapid.T) journey {
	return journey{
		comes:  time.Duration(rapid.IntRange(0, 1500).Draw(r, "comes")) * time.Millisecond,
		stays:  time.Duration(rapid.IntRange(1, 2000).Draw(r, "stays")) * time.Millisecond,
		awaits: rapid.Bool().Draw(r, "awaits"),
	}
}

func drawUsed(r *rapid.T, name string) router.Used {
	n := rapid.Int64Range(0, 1_000_000_007)
	return router.Used{
		Cost: router.USD(n.Draw(r, name)), Input: n.Draw(r, name), Output: n.Draw(r, name),
		Reasoning: n.Draw(r, name), Cached: n.Draw(r, name),
	}
}

// atLeast returns u, and v where that is more.
func atLeast(u, v router.Used) router.Used {
	return router.Used{
		Cost: max(u.Cost, v.Cost), Input: max(u.Input, v.Input), Output: max(u.Output, v.Output),
		Reasoning: max(u.Reasoning, v.Reasoning), Cached: max(u.Cached, v.Cached),
	}
}

// TestTheSharesOfACallAddUp is the law of shared calls: in whatever order callers
// come and leave, together they pay what the upstream reported. Only if those that
// left at a deadline had paid more by then, it is that. A share is never negative,
// and only the first caller's may exceed what one caller holds.
func TestTheSharesOfACallAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		journeys := rapid.SliceOfN(rapid.Custom(drawJourney), 1, 40).Draw(r, "journeys")
		total, estimate := drawUsed(r, "total"), drawUsed(r, "estimate")
		most := max(estimate.Cost, router.USD(rapid.Int64Range(0, 2_000_000_000).Draw(r, "most")))
		fails, stubborn := rapid.Bool().Draw(r, "fails"), rapid.Bool().Draw(r, "stubborn")
		call := func(ctx context.Context) (router.Reply, error) {
			if stubborn {
				ctx = context.WithoutCancel(ctx)
			}
			select {
			case <-ctx.Done():
				return router.Reply{}, ctx.Err()
			case <-time.After(time.Second):
			}
			if fails {
				return router.Reply{}, errUpstream
			}
			return router.Reply{ID: "landed"}, nil
		}
		type bill struct{ sum, paid, want router.Used }
		bills := map[any]*bill{}
		synctest.Test(t, func(*testing.T) {
			var f router.Flights
			var mu sync.Mutex
			var all sync.WaitGroup
			for _, j := range journeys {
				all.Go(func() {
					time.Sleep(j.comes)
					ctx, cancel := context.WithTimeout(context.Background(), j.stays)
					defer cancel()
					l := f.Share(ctx, 0, j.awaits, estimate, call)
					mu.Lock()
					defer mu.Unlock()
					b := bills[l.Call]
					if b == nil {
						b = &bill{}
						bills[l.Call] = b
					}
					var own router.Used
					switch {
					case l.Early:
						own = l.Part(router.Used{}, most)
						b.paid = b.paid.Plus(own)
					case l.Err == nil:
						own, b.want = l.Part(total, most), total
					case l.Left:
						own, b.want = l.Part(estimate, most), estimate
					}
					b.sum = b.sum.Plus(own)
					if atLeast(own, router.Used{}) != own {
						r.Errorf("a negative share: %+v", own)
					}
					if own.Cost > most && !l.First {
						r.Errorf("a share of %d exceeds the hold of %d", own.Cost, most)
					}
				})
			}
			all.Wait()
		})
		for _, b := range bills {
			if want := atLeast(b.want, b.paid); b.sum != want {
				r.Errorf("the shares sum up to %+v, want %+v (left: %+v)", b.sum, want, b.paid)
			}
		}
	})
}

// TestAThousandCallers join and leave one key at random moments. It is for the race
// detector.
func TestAThousandCallers(t *testing.T) {
	t.Parallel()
	var f router.Flights
	var all sync.WaitGroup
	var calls atomic.Int64
	for range 1000 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), rand.N(3*time.Millisecond))
			defer cancel()
			time.Sleep(rand.N(3 * time.Millisecond))
			l := f.Share(ctx, 0, rand.N(2) == 0, estimated, landsAfter(time.Millisecond, &calls))
			assert.Equal(t, l.Err == nil, l.ID == "landed")
		})
	}
	all.Wait()
	assert.Positive(t, calls.Load())
	assert.Zero(t, f.Open())
}

// TestACallerThatLeavesAsTheCallEnds: the answer and the end of every caller's time
// come at one instant. Whichever a caller sees first, the shares add up.
func TestACallerThatLeavesAsTheCallEnds(t *testing.T) {
	t.Parallel()
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			var f router.Flights
			var all sync.WaitGroup
			var sum atomic.Int64
			total, answered := router.Used{Cost: 10_007}, time.After(time.Second)
			for range 16 {
				all.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					l := f.Share(ctx, 0, false, estimated, func(context.Context) (router.Reply, error) {
						<-answered
						return router.Reply{}, nil
					})
					sum.Add(int64(l.Part(total, 1e6).Cost))
				})
			}
			all.Wait()
			assert.EqualValues(t, total.Cost, sum.Load())
		})
	}
}
