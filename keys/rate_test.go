package keys_test

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

func limited(l keys.RateLimits) func(*keys.Config) {
	return func(c *keys.Config) { c.Rates = l }
}

func TestRatesMakeSense(t *testing.T) {
	for name, r := range map[string]keys.Rate{
		"negative requests": {Requests: -1, Per: time.Second}, "negative time": {Requests: 1, Per: -1}, "no time": {Requests: 1},
		"no requests": {Per: time.Second}, "negative at a time": {Concurrent: -1},
	} {
		for _, l := range []keys.RateLimits{{Key: r}, {Workspace: r}, {Account: r}} {
			_, err := keys.New(keys.Config{Store: &flaky{}, Rates: l})
			require.ErrorIs(t, err, keys.ErrConfig, name)
		}
	}
}

// exact is the algorithm in fractions.
type exact struct {
	requests, per int64
	next          *big.Rat
}

func (e *exact) admit(now int64) (ok bool, wait int64) {
	at := big.NewRat(now, 1)
	if e.next == nil || e.next.Cmp(at) < 0 {
		e.next = at
	}
	after := new(big.Rat).Add(e.next, big.NewRat(e.per, e.requests))
	full := big.NewRat(now+e.per, 1)
	if after.Cmp(full) <= 0 {
		e.next = after
		return true, 0
	}
	e.next = full // it counts, too: now there is room for none
	return false, (e.per + e.requests - 1) / e.requests
}

func TestTheRateIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := keys.Rate{
			Requests: rapid.IntRange(1, 7).Draw(rt, "requests"),
			Per:      time.Duration(rapid.Int64Range(1, 50).Draw(rt, "per")),
		}
		b := newBench(t, limited(keys.RateLimits{Key: rate}))
		model := exact{requests: int64(rate.Requests), per: int64(rate.Per)}
		for range rapid.IntRange(1, 200).Draw(rt, "n") {
			b.clock.after(time.Duration(rapid.Int64Range(0, 20).Draw(rt, "later")))
			release, err := b.Admit(router.Principal{KeyHash: "k"})
			release()
			ok, wait := model.admit(b.clock.now().UnixNano())
			if ok {
				require.NoError(rt, err)
				continue
			}
			var e *keys.RateLimitError
			require.ErrorAs(rt, err, &e)
			require.ErrorIs(rt, err, keys.ErrRateLimited)
			require.Equal(rt, time.Duration(wait), e.RetryAfter)
			require.Equal(rt, b.clock.now().Add(e.RetryAfter), e.Reset)
			require.Equal(rt, rate.Requests, e.Limit)
			require.Zero(rt, e.Remaining)
		}
	})
}

func TestEachOwnerHasItsOwnRate(t *testing.T) {
	one := keys.Rate{Requests: 1, Per: time.Minute}
	two := keys.Rate{Requests: 2, Per: time.Minute}
	b := newBench(t, limited(keys.RateLimits{Key: one, Workspace: two, Account: keys.Rate{Requests: 5, Per: time.Hour}}))
	ask := func(key, workspace string) error {
		release, err := b.Admit(router.Principal{KeyHash: key, Workspace: workspace, Account: "acme"})
		release()
		return err
	}
	require.NoError(t, ask("a", "w"))
	require.NoError(t, ask("b", "w"))
	require.Error(t, ask("c", "w"), "the workspace's rate")
	require.Error(t, ask("a", "v"), "its own")
	require.NoError(t, ask("d", "v"), "one of two was refused, and both count")
	err := ask("e", "u")
	var e *keys.RateLimitError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 5, e.Limit, "the bound that refuses longest is told: five have asked, three were let in")
	assert.Equal(t, 12*time.Minute, e.RetryAfter)
	require.NoError(t, func() error {
		release, err := b.Admit(router.Principal{KeyHash: "z", Account: "solo"})
		release()
		return err
	}(), "another account, and no workspace")
}

// TestARefusedRequestCounts: a caller that does not wait is refused for longer, and a
// caller that waits for RetryAfter is admitted on that instant.
func TestARefusedRequestCounts(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Key: keys.Rate{Requests: 2, Per: time.Minute}}))
	ask := func() (wait time.Duration) {
		release, err := b.Admit(router.Principal{KeyHash: "k"})
		release()
		if e, ok := errors.AsType[*keys.RateLimitError](err); ok {
			return e.RetryAfter
		}
		return 0
	}
	require.Zero(t, ask())
	require.Zero(t, ask())
	for range 1000 { // for 5 hours, far more often than one in 30 s
		require.Equal(t, 30*time.Second, ask())
		b.clock.after(18 * time.Second)
	}
	require.Equal(t, 30*time.Second, ask())
	b.clock.after(30*time.Second - 1)
	require.Equal(t, 30*time.Second, ask(), "a nanosecond too soon, and the wait begins anew")
	b.clock.after(30 * time.Second)
	require.Zero(t, ask(), "however many were refused before")
}

func TestARequestRefusedAmongTooManyAtATimeCounts(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Key: keys.Rate{Requests: 3, Per: time.Hour, Concurrent: 1}}))
	p := router.Principal{KeyHash: "k"}
	release, err := b.Admit(p)
	require.NoError(t, err)
	for range 2 {
		_, err = b.Admit(p)
		require.Error(t, err)
	}
	release()
	_, err = b.Admit(p)
	var e *keys.RateLimitError
	require.ErrorAs(t, err, &e, "three have asked")
	assert.Equal(t, 20*time.Minute, e.RetryAfter)
}

func TestAClockThatWasSetBackDelaysForNoLongerThanTheInterval(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Key: keys.Rate{Requests: 1, Per: time.Minute}}))
	p := router.Principal{KeyHash: "k"}
	_, err := b.Admit(p)
	require.NoError(t, err)
	b.clock.after(-24 * time.Hour)
	_, err = b.Admit(p)
	require.Error(t, err)
	b.clock.after(time.Minute)
	_, err = b.Admit(p)
	require.NoError(t, err)
}

func TestConcurrentRequestsAreBounded(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Account: keys.Rate{Concurrent: 3}}))
	p := router.Principal{KeyHash: "k", Account: "acme"}
	var in, most, refused atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 200 {
				release, err := b.Admit(p)
				if err != nil {
					refused.Add(1)
					release()
					continue
				}
				now := in.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); {
					old = most.Load()
				}
				in.Add(-1)
				release()
				release() // twice does nothing
			}
		})
	}
	wg.Wait()
	assert.LessOrEqual(t, most.Load(), int32(3))
	var releases []func()
	for range 3 {
		release, err := b.Admit(p)
		require.NoError(t, err, "all were given back, none twice")
		releases = append(releases, release)
	}
	_, err := b.Admit(p)
	var e *keys.RateLimitError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, 3, e.Limit)
	assert.Equal(t, time.Second, e.RetryAfter)
	releases[0]()
	_, err = b.Admit(p)
	require.NoError(t, err)
}

func TestBucketsWithoutEffectAreForgotten(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Key: keys.Rate{Requests: 1, Per: time.Second, Concurrent: 1}}))
	busy := router.Principal{KeyHash: "busy"}
	_, err := b.Admit(busy)
	require.NoError(t, err)
	for i := range 20_000 {
		release, err := b.Admit(router.Principal{KeyHash: strconv.Itoa(i)})
		require.NoError(t, err)
		release()
		b.clock.after(10 * time.Millisecond)
	}
	assert.LessOrEqual(t, keys.Counted(b.Service), 2048)
	_, err = b.Admit(busy)
	require.Error(t, err, "what is under way is not")
}

func TestInterceptedCallsAreCountedOnce(t *testing.T) {
	b := newBench(t, limited(keys.RateLimits{Key: keys.Rate{Requests: 2, Per: time.Minute, Concurrent: 1}}))
	r, secret := b.key(t, keys.Key{})
	ask := func(c router.Call) error {
		_, err := b.Intercept(func(context.Context, *router.Call) (*router.Result, error) {
			return nil, nil //nolint:nilnil // the result is nobody's concern here
		})(t.Context(), &c)
		return err
	}
	for range 5 {
		require.NoError(t, ask(router.Call{Principal: router.Principal{KeyHash: r.Hash}}), "counted before")
	}
	require.NoError(t, ask(router.Call{Secret: secret}))
	require.NoError(t, ask(router.Call{Secret: secret}), "the first was over")
	err := ask(router.Call{Secret: secret})
	var re *router.Error
	require.ErrorAs(t, err, &re)
	assert.Equal(t, router.RateLimitExceeded, re.Class)
	assert.Equal(t, "Rate limit exceeded", re.Message)
	assert.Equal(t, 30*time.Second, re.RetryAfter)
	require.ErrorIs(t, err, keys.ErrRateLimited)
}
