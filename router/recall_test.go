package router_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// answersAsked answers the questions that it is asked, whichever they are.
func answersAsked(ctx context.Context, a router.Attempt) (router.Reply, error) {
	r, err := answer(ctx, a)
	all := r.Answers
	r.Answers = nil
	for _, q := range a.Request.Questions {
		if got, ok := all.Get(q.Name); ok {
			r.Answers = append(r.Answers, got)
		}
	}
	return r, err
}

func newRemembering(t *testing.T, endpoints string, change func(*router.Config), edit ...func(*router.Endpoint)) *sharing {
	t.Helper()
	s := newSharing(t, endpoints, func(cfg *router.Config) {
		cfg.Share, cfg.Remember = false, &router.Remembering{}
		if change != nil {
			change(cfg)
		}
	}, append(edit, func(e *router.Endpoint) { e.ZDR = true })...)
	for _, up := range s.upstreams {
		up.will(answersAsked)
	}
	return s
}

// asks decides a request and returns how many questions the upstreams were asked.
func (s *sharing) asks(change func(*router.Call)) (*router.Result, *router.Call, int) {
	s.t.Helper()
	count := func() (n int) {
		for _, up := range s.upstreams {
			for _, a := range up.attempts() {
				n += len(a.Request.Questions)
			}
		}
		return n
	}
	before := count()
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	if change != nil {
		change(c)
	}
	res, err := s.router.Decide(s.t.Context(), c)
	require.NoError(s.t, err)
	require.Equal(s.t, sumOfCosts(c), res.Cost)
	return res, c, count() - before
}

func sumOfCosts(c *router.Call) (sum router.USD) {
	for a := range c.Report.Attempts() {
		sum += a.Cost
	}
	return sum
}

// TestARememberedSheetCostsNothing: nothing is sent, charged or shown in activity, and
// the reply is the same.
func TestARememberedSheetCostsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRemembering(t, "ant bee", nil)
		first, _, n := s.asks(nil)
		require.Equal(t, 3, n)
		spent, shown := s.balance(), s.shows()
		time.Sleep(time.Minute)
		again, c, n := s.asks(nil)
		assert.Zero(t, n)
		assert.Equal(t, spent, s.balance())
		assert.Equal(t, shown, s.shows())
		assert.Zero(t, again.Cost)
		assert.Equal(t, systemone.Usage{Cost: "0"}, again.Response.Usage)
		assert.Equal(t, first.Response.Answers, again.Response.Answers)
		assert.Equal(t, first.Response.Model, again.Response.Model)
		assert.Equal(t, first.Response.Provider, again.Response.Provider)
		assert.Equal(t, first.Endpoint, again.Endpoint)
		require.NoError(t, systemone.Check(c.Request, again.Response.Answers, systemone.Tolerance{}))

		require.Len(t, c.Report.Legs, 1)
		l := c.Report.Legs[0]
		assert.True(t, l.Answered())
		assert.Empty(t, l.Attempts)
		assert.Equal(t, c.Request.Questions, l.Questions)
		assert.Equal(t, s.endpoint(0), l.Remembered.Endpoint)
		for i := range again.Response.Answers {
			assert.Equal(t, router.Provenance{Leg: 0, Attempt: -1, Age: time.Minute}, c.Report.Provenance(i))
		}
		assert.Empty(t, c.Events(again))
	})
}

// TestOnlyWhatIsNotRememberedIsAsked: under another name a question is the same, and
// what is remembered has the name that was asked for now.
func TestOnlyWhatIsNotRememberedIsAsked(t *testing.T) {
	t.Parallel()
	s := newRemembering(t, "ant", nil)
	s.asks(func(c *router.Call) { c.Request.Questions = c.Request.Questions[:1] })
	res, c, n := s.asks(func(c *router.Call) { c.Request.Questions[0].Name = "money back" })
	assert.Equal(t, 2, n)
	assert.Equal(t, "money back", res.Response.Answers[0].Name)
	require.NoError(t, systemone.Check(c.Request, res.Response.Answers, systemone.Tolerance{}))
	require.Len(t, c.Report.Legs, 2)
	assert.Equal(t, []string{"team", "urgency"}, c.Report.Legs[0].Asked())
	assert.Equal(t, []string{"money back"}, c.Report.Legs[1].Asked())
	assert.Equal(t, 1, c.Report.Provenance(0).Leg)
	assert.Equal(t, router.Provenance{Leg: 0, Attempt: 0}, c.Report.Provenance(2))
	_, _, n = s.asks(nil)
	assert.Zero(t, n)
}

// TestWhatIsNotRemembered changes one thing between two calls.
func TestWhatIsNotRemembered(t *testing.T) {
	t.Parallel()
	zdr := func(c *router.Call) { c.Request.Provider.ZDR = true }
	rule := func(c *router.Call) { c.Policy = []router.Rule{{ZDR: true}} }
	mode := func(m systemone.Remember) func(c *router.Call) {
		return func(c *router.Call) { c.Request.Routing = &systemone.Routing{Remember: m} }
	}
	own := func(secret router.Secret) func(*router.Call) {
		return func(c *router.Call) {
			c.Credentials = []router.Credential{{ID: uuid.UUID{1}, Provider: "ant", Secret: secret}}
			c.Request.Provider.Only = []string{"ant"}
		}
	}
	only := func(slug string) func(*router.Call) {
		return func(c *router.Call) { c.Request.Provider.Only = []string{slug} }
	}
	for name, tt := range map[string]struct {
		first, then func(*router.Call)
		wait        time.Duration
		off         bool
		want        int
	}{
		"the same":        {},
		"almost too old":  {wait: 5*time.Minute - 1},
		"too old":         {wait: 5 * time.Minute, want: 3},
		"switched off":    {off: true, want: 3},
		"another key":     {then: func(c *router.Call) { c.Principal.KeyHash = "another" }},
		"another account": {then: func(c *router.Call) { c.Principal.Account = "other" }, want: 3},
		"another state":   {then: func(c *router.Call) { c.Request.State = []byte(`"x"`) }, want: 3},
		"other options": {then: func(c *router.Call) {
			c.Request.Provider.Options = []systemone.ProviderOptions{{Provider: "ant", Options: json.RawMessage(`{"a":1}`)}}
		}, want: 3},
		"options of another provider": {then: func(c *router.Call) {
			c.Request.Provider.Options = []systemone.ProviderOptions{{Provider: "bee", Options: json.RawMessage(`{"a":1}`)}}
		}},
		"zero retention now":  {then: zdr, want: 3},
		"zero retention then": {first: zdr, want: 3},
		"a rule now":          {then: rule, want: 3},
		"a rule then":         {first: rule, want: 3},
		"off now":             {then: mode("off"), want: 3},
		"off then":            {first: mode("off"), want: 3},
		"read now":            {then: mode("read")},
		"read then":           {first: mode("read"), want: 3},
		"write":               {first: mode("write"), then: mode("write")},
		"an own credential beside the operator's": {first: only("ant"), then: own("mine")},
		"the operator's credential now":           {first: own("mine"), then: only("ant"), want: 3},
		"the same own credential":                 {first: own("mine"), then: own("mine")},
		"another own credential":                  {first: own("mine"), then: own("yours"), want: 3},
		"its endpoint is excluded now":            {then: only("bee"), want: 3},
		"its endpoint is not the first":           {then: func(c *router.Call) { c.Request.Provider.Order = []string{"bee", "ant"} }},
		"its endpoint is too dear now":            {first: only("bee"), then: func(c *router.Call) { c.Policy = []router.Rule{{IgnoredProviders: []string{"bee"}}} }, want: 3},
		"asked by a model of its group":           {first: only("ant"), then: func(c *router.Call) { c.Request.Models = systemone.Texts(modelM) }},
		"a question has another meaning":          {then: func(c *router.Call) { c.Request.Questions[0].Instructions = json.RawMessage(`"?"`) }, want: 1},
		"options in another order": {then: func(c *router.Call) {
			o := c.Request.Questions[1].Options
			o[0], o[1] = o[1], o[0]
		}, want: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newRemembering(t, "ant bee", func(cfg *router.Config) {
				if tt.off {
					cfg.Remember = nil
				}
			})
			s.asks(tt.first)
			time.Sleep(tt.wait)
			_, _, n := s.asks(tt.then)
			assert.Equal(t, tt.want, n, name)
		})
	}
}

// TestTheFirstCandidatesAnswerCounts: both endpoints have answered before.
func TestTheFirstCandidatesAnswerCounts(t *testing.T) {
	t.Parallel()
	s := newRemembering(t, "ant bee cat", nil)
	for _, slug := range []string{"bee", "cat"} {
		s.asks(func(c *router.Call) { c.Request.Provider.Only = []string{slug} })
	}
	res, c, n := s.asks(nil)
	assert.Zero(t, n)
	assert.Equal(t, s.endpoint(1), res.Endpoint)
	assert.Len(t, c.Report.Legs, 1)
}

// TestForgottenAnswersAreAskedAgain: also those of a call that was in flight.
func TestForgottenAnswersAreAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRemembering(t, "ant", nil)
		of := func(c *router.Call) { c.Request.User, c.Request.SessionID = "ann", "s1" }
		n := func() int { _, _, n := s.asks(of); return n }
		require.Equal(t, 3, n())
		for _, other := range [][3]string{{"other", "", ""}, {"org", "bob", ""}, {"org", "ann", "s2"}} {
			require.NoError(t, s.router.Forget(t.Context(), other[0], other[1], other[2]))
			require.Zero(t, n())
		}
		for _, own := range [][3]string{{"org", "", ""}, {"org", "ann", ""}, {"org", "", "s1"}, {"org", "ann", "s1"}} {
			require.NoError(t, s.router.Forget(t.Context(), own[0], own[1], own[2]))
			require.Equal(t, 3, n())
		}
		require.NoError(t, s.router.Forget(t.Context(), "org", "", ""))
		s.upstreams["ant"].will(slow(time.Second, answersAsked), answersAsked)
		var all sync.WaitGroup
		all.Go(func() { s.asks(of) })
		synctest.Wait()
		require.NoError(t, s.router.Forget(t.Context(), "org", "", ""))
		all.Wait()
		assert.Equal(t, 3, n(), "the call had begun before")
		assert.Zero(t, n())
	})
}

// TestACallThatFailedTeachesNothing: its answers were not paid for.
func TestACallThatFailedTeachesNothing(t *testing.T) {
	t.Parallel()
	s := newRemembering(t, "ant bee:N", nil)
	s.upstreams["bee"].will(fails(t, "500"))
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	zero := 1.0
	c.Request.Models = []systemone.Entry{{
		Model: modelN, Required: true, When: &systemone.Condition{Question: "team", ConfidenceBelow: &zero},
	}}
	_, err := s.router.Decide(t.Context(), c)
	require.Error(t, err)
	_, _, n := s.asks(nil)
	assert.Equal(t, 3, n)
}

// TestACascadeIsRememberedWhole: the first stage, the second, and that there was one.
func TestACascadeIsRememberedWhole(t *testing.T) {
	t.Parallel()
	s := newRemembering(t, "ant bee:N", nil)
	cascade := func(c *router.Call) {
		below := 1.0
		c.Request.Models = []systemone.Entry{{Model: modelN, When: &systemone.Condition{Question: "team", ConfidenceBelow: &below}}}
	}
	first, _, n := s.asks(cascade)
	require.Equal(t, 4, n)
	again, c, n := s.asks(cascade)
	assert.Zero(t, n)
	assert.Equal(t, first.Response.Answers, again.Response.Answers)
	require.Len(t, c.Report.Legs, 2)
	assert.Equal(t, 1, c.Report.Provenance(1).Leg)
	require.NotNil(t, c.Report.Provenance(1).Replaced)
	assert.Equal(t, modelN, c.Report.Legs[1].Remembered.Model().ID)
}

// TestTheRestFails: what is remembered of a group does not make it answer. The next
// group is asked everything.
func TestTheRestFails(t *testing.T) {
	t.Parallel()
	s := newRemembering(t, "ant bee:N", nil)
	s.asks(func(c *router.Call) { c.Request.Questions = c.Request.Questions[:1] })
	s.upstreams["ant"].will(fails(t, "500"))
	c := &router.Call{Request: decision(byPrice), Principal: who()}
	below := 0.5
	c.Request.Models = []systemone.Entry{{Model: modelN, When: &systemone.Condition{Question: "team", ConfidenceBelow: &below}}}
	res, err := s.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, s.endpoint(1), res.Endpoint)
	assert.Len(t, s.upstreams["bee"].attempts()[0].Request.Questions, 3)
}

// faulty is a store that returns what it likes.
type faulty struct {
	values func(keys []router.MemoryKey) [][]byte
}

func (f faulty) Get(_ context.Context, keys []router.MemoryKey, _ time.Time) [][]byte {
	return f.values(keys)
}
func (faulty) Put(context.Context, []router.MemoryEntry, time.Time) {}
func (faulty) Forget(context.Context, string, string, string) error { return errTape }

// TestAStoreThatFailsIsNoMemory: its values are checked like an upstream's answers.
func TestAStoreThatFailsIsNoMemory(t *testing.T) {
	t.Parallel()
	valid := decision("").Questions[0]
	wrong := router.AppendRemembered(&valid, &systemone.Answer{Kind: systemone.Noul, Noul: 7}, time.Now())
	old := router.AppendRemembered(&valid, &systemone.Answer{Kind: systemone.Noul, Noul: 0.5}, time.Now().Add(-6*time.Minute))
	for name, values := range map[string]func(keys []router.MemoryKey) [][]byte{
		"too old":   func([]router.MemoryKey) [][]byte { return [][]byte{old, nil, nil} },
		"nothing":   func([]router.MemoryKey) [][]byte { return nil },
		"too few":   func([]router.MemoryKey) [][]byte { return make([][]byte, 1) },
		"too many":  func([]router.MemoryKey) [][]byte { return make([][]byte, 99) },
		"garbage":   func(keys []router.MemoryKey) [][]byte { return [][]byte{{1}, {}, []byte("garbage")} },
		"no answer": func(keys []router.MemoryKey) [][]byte { return [][]byte{wrong, wrong, wrong} },
	} {
		s := newRemembering(t, "ant", func(cfg *router.Config) { cfg.Remember.Store = faulty{values} })
		_, _, n := s.asks(nil)
		assert.Equal(t, 3, n, name)
		require.ErrorIs(t, s.router.Forget(t.Context(), "org", "", ""), errTape)
	}
}

// TestRememberIsChecked: New refuses what cannot be meant.
func TestRememberIsChecked(t *testing.T) {
	t.Parallel()
	for _, wrong := range []router.Remembering{{TTL: -1}, {Bytes: -1}, {Store: (*faulty)(nil)}} {
		_, err := router.New(router.Config{Catalog: newRig(t, "ant", nil).router.Catalog(), Remember: &wrong})
		require.ErrorIs(t, err, router.ErrConfig)
	}
}

// A ledger that fails between a free first stage and a remembered second one keeps the
// first answers.
func TestALedgerFailsBeforeARememberedStage(t *testing.T) {
	down := &unreadable{}
	clock := newClock()
	s := newRemembering(t, "ant bee:N", func(cfg *router.Config) {
		down.Ledger, cfg.Ledger, cfg.Now = cfg.Ledger, down, clock.now
	}, func(e *router.Endpoint) { e.Pricing = router.Pricing{} })
	c := staged(nil)
	c.Request.Model, c.Request.Models, c.Request.Questions = "judge-mini", nil, c.Request.Questions[1:2]
	_, err := s.router.Decide(t.Context(), c)
	require.NoError(t, err)
	s.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		clock.step(2 * time.Second)
		down.down = true
		return answer(ctx, a)
	})
	c = staged(nil)
	_, err = s.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, router.KeptError, c.Report.Legs[1].Kept)
}

type unreadable struct {
	router.Ledger
	down bool
}

func (l *unreadable) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	if l.down {
		return nil, router.ErrUnavailable
	}
	return l.Ledger.Balances(ctx, lines)
}
