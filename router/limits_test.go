package router_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// shared is a ledger whose store another program changes.
type shared struct {
	router.Ledger

	newest   int64 // version of the key's record
	reserves int
	looks    int
	voids    int
	err      error
	hangs    bool
}

func (s *shared) Reserve(ctx context.Context, h router.Hold) error {
	s.reserves++
	if s.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.err != nil {
		return s.err
	}
	held, err := s.Ledger.Balances(ctx, h.Lines[:1])
	if err != nil {
		return err
	}
	for i, v := range h.Versions {
		if v.N < s.newest && held[0].Held == (router.Amount{}) {
			return &router.StaleError{Versions: []int{i}}
		}
	}
	return s.Ledger.Reserve(ctx, h)
}

func (s *shared) Void(ctx context.Context, id uuid.UUID) error {
	s.voids++
	return s.Ledger.Void(ctx, id)
}

func (s *shared) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	s.looks++
	if s.err != nil {
		return nil, s.err
	}
	return s.Ledger.Balances(ctx, lines)
}

// policy limits a key as one program has read it.
type policy struct {
	limits *router.Limits
	reads  int
	passed int // calls
}

// read sets what the store returns the next time: a limit at a version.
func (p *policy) read(n int64, most router.USD, err error) {
	next := &router.Limits{
		Budgets:  []router.Budget{keyLimit(most, router.Lifetime)},
		Versions: []router.Version{{Line: router.OwnerKey.Line(who(), "ever"), N: n}},
	}
	if p.limits == nil {
		p.limits = next
		return
	}
	p.limits.Again = func(context.Context) (*router.Limits, error) {
		p.reads++
		p.limits = next
		return next, err
	}
	next.Again = p.limits.Again
}

func (p *policy) intercept(next router.Decider) router.Decider {
	return func(ctx context.Context, c *router.Call) (*router.Result, error) {
		p.passed++
		c.Limit(p.limits)
		return next(ctx, c)
	}
}

func newShared(t *testing.T, endpoints string, more func(*router.Config), fees ...router.USD) (*till, *shared, *policy) {
	t.Helper()
	l, p := newTill(t, endpoints, fees...), &policy{}
	s := &shared{Ledger: l.ledger}
	l.rig = newRig(t, endpoints, func(cfg *router.Config) {
		cfg.Ledger, cfg.Now, cfg.Interceptors = s, l.clock.now, []router.Interceptor{p.intercept}
		if more != nil {
			more(cfg)
		}
	}, fee(fees...))
	return l, s, p
}

// Limits that were changed elsewhere are read again at the call's first hold, once
// and only by their own policy. The fresh limits decide.
func TestLimitsAreReadAgainWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	refused := &router.Error{Class: router.Authentication, Message: "API key disabled"}
	for name, tt := range map[string]struct {
		before, after router.USD
		err           error
		said          string
	}{
		"lowered":           {router.Dollar, 0, nil, "Key limit exceeded"},
		"raised":            {0, router.Dollar, nil, ""},
		"the key is gone":   {router.Dollar, 0, refused, "API key disabled"},
		"storage fails":     {router.Dollar, 0, errors.New("on fire"), "server"},
		"storage is away":   {router.Dollar, 0, router.ErrUnavailable, "no_capacity"},
		"storage is silent": {router.Dollar, 0, context.DeadlineExceeded, "no_capacity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, s, p := newShared(t, "ant", nil, cent)
			p.read(1, tt.before, nil)
			p.read(2, tt.after, tt.err)
			s.newest = 2
			assert.Equal(t, tt.said, l.ask(l.call()))
			assert.Equal(t, 1, p.reads)
			assert.Equal(t, 1, p.passed, "the interceptors saw the call once")
			assert.Zero(t, s.voids, "there is nothing to give back")
			if tt.err == nil {
				assert.Equal(t, 2, s.reserves)
			}
			p.limits.Again = nil
			reserves := s.reserves
			l.ask(l.call())
			assert.Equal(t, reserves+1, s.reserves, "no more waits once they are fresh")
		})
	}
}

// Budgets that other interceptors have added to the call stay.
func TestFreshLimitsTakeThePlaceOfTheOldOnesAlone(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant", nil, cent)
	other := router.Budget{Check: guardrailCheck, Owner: router.OwnerKey, Max: router.Dollar}
	p.read(1, router.Dollar, nil)
	p.read(2, 2*router.Dollar, nil)
	s.newest = 2
	c := l.call(other)
	require.Empty(t, l.ask(c))
	assert.ElementsMatch(t, []router.Budget{other, keyLimit(2*router.Dollar, router.Lifetime)}, c.Budgets)
}

// A raise keeps the limits under which the hold was made.
func TestARaiseReadsNothingAgain(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant bee", nil, cent, 2*cent)
	p.read(1, router.Dollar, nil)
	p.read(2, 0, nil)
	s.newest = 1
	fail := fails(t, "500")
	l.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		s.newest = 2
		return fail(ctx, a)
	})
	assert.Empty(t, l.ask(l.call()))
	assert.Zero(t, p.reads)
}

// A call ends even when its limits are old each time they are read.
func TestLimitsThatAreAlwaysOld(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant", nil, cent)
	p.read(1, router.Dollar, nil)
	p.read(2, router.Dollar, nil)
	s.newest = 9
	assert.Equal(t, "no_capacity", l.ask(l.call()))
	assert.Equal(t, 4, s.reserves)
}

// While the ledger is unavailable callers get a 503. A mistake in the ledger is a
// failure of the program.
func TestTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant", nil, cent)
	p.read(1, router.Dollar, nil)
	s.err = router.ErrUnavailable
	_, err := l.router.Decide(t.Context(), l.call())
	e := fault(t, err)
	assert.Equal(t, router.NoCapacity, e.Class)
	assert.Equal(t, 5*time.Second, e.RetryAfter)
	s.err = errors.New("no such column")
	_, err = l.router.Decide(t.Context(), l.call())
	assert.Equal(t, router.Server, fault(t, err).Class)
}

// A ledger that does not answer within the call's time is unavailable as well.
func TestTheLedgerIsSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, s, p := newShared(t, "ant", nil, cent)
		p.read(1, router.Dollar, nil)
		s.hangs = true
		_, err := l.router.Decide(t.Context(), l.call())
		assert.Equal(t, router.NoCapacity, fault(t, err).Class)
		ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
		defer hangUp()
		_, err = l.router.Decide(ctx, l.call())
		assert.Equal(t, router.NoCapacity, fault(t, err).Class)
	})
}

// Calls that cost nothing are refused while the ledger is unavailable, unless
// FreeWithoutLedger is set. They check the ledger at most once a second.
func TestFreeCallsWhileTheLedgerIsAway(t *testing.T) {
	t.Parallel()
	l, s, p := newShared(t, "ant", nil, 0)
	p.read(1, router.Dollar, nil)
	ask := func() string {
		_, err := l.router.Decide(t.Context(), l.call())
		if err == nil {
			return ""
		}
		return string(fault(t, err).Class)
	}
	for range 3 {
		assert.Empty(t, ask())
	}
	assert.Equal(t, 1, s.looks)
	s.err = router.ErrUnavailable
	assert.Empty(t, ask(), "it was there less than a second ago")
	l.clock.step(time.Second)
	assert.Equal(t, "no_capacity", ask())
	assert.Equal(t, "no_capacity", ask())
	s.err = nil
	assert.Empty(t, ask())
	s.err = router.ErrUnavailable
	l.clock.step(-time.Hour)
	assert.Equal(t, "no_capacity", ask(), "a clock that steps back makes nothing last longer")

	l, s, p = newShared(t, "ant", func(cfg *router.Config) { cfg.FreeWithoutLedger = true }, 0)
	p.read(1, router.Dollar, nil)
	s.err = router.ErrUnavailable
	assert.Empty(t, ask())
	assert.Zero(t, s.looks)
}
