package router_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/systemone"
)

// keyed is a rig whose calls have idempotency keys. Every answer costs a cent.
type keyed struct {
	*rig

	ledger router.Ledger
	ant    *upstream
}

func newKeyed(t *testing.T, edit ...func(*router.Config)) *keyed {
	t.Helper()
	k := &keyed{ledger: memory.New().Ledger}
	k.rig = newRig(t, "ant", func(cfg *router.Config) {
		cfg.Ledger = k.ledger
		for _, f := range edit {
			f(cfg)
		}
	}, fee(cent))
	k.ant = k.upstreams["ant"]
	return k
}

func keyedCall(key string) *router.Call {
	return &router.Call{Request: decision(""), Principal: who(), Idempotency: &router.Idempotency{Key: key, Digest: [32]byte{1}}}
}

// spent requires what was charged, and that nothing is held.
func (k *keyed) spent(want router.USD) {
	k.t.Helper()
	list, err := k.ledger.Balances(k.t.Context(), []router.Line{router.OwnerKey.Line(who(), "ever")})
	require.NoError(k.t, err)
	assert.Equal(k.t, router.Balance{Spent: router.Amount{Credit: want, Total: want}}, list[0])
}

func (k *keyed) asked(want int) {
	k.t.Helper()
	assert.Len(k.t, k.ant.attempts(), want)
}

func (k *keyed) answers(c *router.Call) *router.Result {
	k.t.Helper()
	res, err := k.router.Decide(k.t.Context(), c)
	require.NoError(k.t, err)
	return res
}

func TestARetryGetsTheFirstReply(t *testing.T) {
	t.Parallel()
	for name, free := range map[string]bool{"charged": false, "free": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t)
			want := cent
			if free {
				k.rig = newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = k.ledger }, func(e *router.Endpoint) { e.Pricing = router.Pricing{} })
				k.ant, want = k.upstreams["ant"], 0
			}
			first := keyedCall("a")
			res := k.answers(first)
			assert.False(t, first.Report.Replayed)
			for range 3 {
				again := keyedCall("a")
				replay := k.answers(again)
				assert.True(t, again.Report.Replayed)
				assert.Equal(t, first.ID, again.ID)
				assert.Equal(t, string(res.Response.AppendJSON(nil)), string(replay.Response.AppendJSON(nil)))
				assert.Equal(t, res.Cost, replay.Cost)
				assert.Same(t, res.Endpoint, replay.Endpoint)
				assert.Empty(t, again.Events(replay))
			}
			k.asked(1)
			k.spent(want)
			k.answers(keyedCall("b"))
			k.asked(2)
			k.spent(2 * want)
		})
	}
}

// TestNoCallerGetsTheReplyOfAnother: what tells callers apart is their key or, where
// they have none, their workspace and member, because a workspace has presets,
// guardrails and a budget of its own.
func TestNoCallerGetsTheReplyOfAnother(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	callers := []router.Principal{
		{Account: "org", KeyHash: "key"},
		{Account: "org", KeyHash: "other"},
		{Account: "org"},
		{Account: "org", Workspace: "ws"},
		{Account: "org", Workspace: "other"},
		{Account: "org", Workspace: "ws", Member: "user"},
		{Account: "org", Workspace: "other", Member: "user"},
		{Account: "org", Workspace: "ws", Member: "other"},
		{Account: "other", Workspace: "ws", Member: "user"},
	}
	for range 2 {
		for _, p := range callers {
			c := keyedCall("a")
			c.Principal = p
			k.answers(c)
		}
	}
	k.asked(len(callers))
}

func TestAnIdempotencyKeyIsForOneRequest(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.answers(keyedCall("a"))
	other := keyedCall("a")
	other.Idempotency.Digest[31]++
	_, err := k.router.Decide(t.Context(), other)
	assert.Equal(t, router.Conflict, fault(t, err).Class)
	stranger := keyedCall("a")
	stranger.Principal.KeyHash = "other"
	k.answers(stranger)
	assert.False(t, stranger.Report.Replayed)
	dry := keyedCall("a")
	dry.DryRun = true
	k.answers(dry)
	assert.False(t, dry.Report.Replayed)
	k.asked(2)
	for _, who := range []router.Principal{ // without keys, as with a sign-in of the program's own
		{Member: "ann"}, {Member: "bob"}, {Workspace: "home"}, {Workspace: "lab"}, {Workspace: "lab", Member: "ann"}, {Workspace: "lab/ann"}, {},
	} {
		of := keyedCall("a")
		who.Account = of.Principal.Account
		of.Principal = who
		k.answers(of)
		assert.False(t, of.Report.Replayed, who)
	}
	k.asked(9)
}

func TestIdempotencyKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	for _, key := range []string{"", " ", "a b", "é", "a\x00", "\x7f", strings.Repeat("k", 129)} {
		_, err := k.router.Decide(t.Context(), keyedCall(key))
		assert.Equal(t, router.InvalidRequest, fault(t, err).Class, "%q", key)
	}
	k.asked(0)
	k.answers(keyedCall(strings.Repeat("~", 128)))
}

// A reply that failed without a charge is not kept.
func TestAFailureIsAskedAgain(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.ant.will(fails(t, "500"), answer)
	_, err := k.router.Decide(t.Context(), keyedCall("a"))
	require.Error(t, err)
	other := keyedCall("a")
	other.Idempotency.Digest[0]++
	k.answers(other)
	k.asked(2)
	k.spent(cent)
}

func TestAPanicGivesTheClaimUp(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.ant.will(func(context.Context, router.Attempt) (router.Reply, error) { panic("broken") }, answer)
	assert.Panics(t, func() { _, _ = k.router.Decide(t.Context(), keyedCall("a")) })
	k.answers(keyedCall("a"))
	k.spent(cent)
}

// A hang-up does not end the call: its reply is kept for the retry.
func TestAHangUpEndsNoCallWithAKey(t *testing.T) {
	t.Parallel()
	for name, end := range ends() {
		if name == "Timeout" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyed(t)
				k.ant.will(slow(5*time.Second, answer))
				first := keyedCall("a")
				ctx, cancel := end(t.Context(), first, time.Second)
				defer cancel()
				began := time.Now()
				_, err := k.router.Decide(ctx, first)
				require.NoError(t, err)
				assert.Equal(t, 5*time.Second, time.Since(began))
				again := keyedCall("a")
				k.answers(again)
				assert.Equal(t, first.ID, again.ID)
				k.asked(1)
				k.spent(cent)
			})
		})
	}
}

// A call that its own deadline cuts short is charged, so its failure is kept.
func TestAFailureThatWasChargedIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed(t)
		k.ant.will(slow(time.Minute, answer))
		first, again := keyedCall("a"), keyedCall("a")
		first.Timeout = time.Second
		_, err := k.router.Decide(t.Context(), first)
		require.Equal(t, router.Timeout, fault(t, err).Class)
		_, err = k.router.Decide(t.Context(), again)
		assert.Equal(t, router.Timeout, fault(t, err).Class)
		assert.True(t, again.Report.Replayed)
		assert.Equal(t, first.ID, again.ID)
		k.asked(1)
	})
}

// A call waits for another one in flight, within its deadline.
func TestOneInFlightIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed(t)
		k.ant.will(slow(5*time.Second, answer))
		var all sync.WaitGroup
		ids := make([]string, 8)
		for i := range ids {
			all.Go(func() {
				c := keyedCall("a")
				k.answers(c)
				ids[i] = c.ID
			})
		}
		time.Sleep(time.Second)
		short := keyedCall("a")
		short.Timeout = time.Second
		_, err := k.router.Decide(t.Context(), short)
		assert.Equal(t, router.Timeout, fault(t, err).Class)
		assert.Equal(t, router.StopDeadline, short.Report.Stopped)
		ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
		defer hangUp()
		gone := keyedCall("a")
		began := time.Now()
		_, err = k.router.Decide(ctx, gone)
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Second, time.Since(began), "who waits may leave")
		all.Wait()
		for _, id := range ids {
			assert.Equal(t, ids[0], id)
		}
		k.asked(1)
		k.spent(cent)
	})
}

// When a call fails, one of those that wait asks anew.
func TestOneThatWaitsAsksAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed(t)
		k.ant.will(slow(time.Second, fails(t, "500")), slow(time.Second, answer))
		var all sync.WaitGroup
		failed := make(chan error, 4)
		for range cap(failed) {
			all.Go(func() {
				_, err := k.router.Decide(t.Context(), keyedCall("a"))
				failed <- err
			})
		}
		all.Wait()
		close(failed)
		var errs int
		for err := range failed {
			if err != nil {
				errs++
			}
		}
		assert.Equal(t, 1, errs)
		k.asked(2)
		k.spent(cent)
	})
}

// kill is a ledger of a process that dies before it settles.
type kill struct {
	router.Ledger
	router.Recorder
	router.Replies
}

var errKilled = errors.New("killed")

func (kill) SettleKept(context.Context, router.Kept, router.Amount, []router.Event) error {
	return errors.Join(errKilled, router.ErrFinal)
}
func (kill) Void(context.Context, uuid.UUID) error { return nil }

// A claim whose owner died ends with the hold's deadline. What expiry charged is
// taken back before the retry is asked, so that one call is charged.
func TestADeadOwnersClaimEnds(t *testing.T) {
	t.Parallel()
	for name, expires := range map[string]bool{"posted": true, "still open": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKeyed(t)
				recorder, _ := k.ledger.(router.Recorder)
				replies, _ := k.ledger.(router.Replies)
				dying := newRig(t, "ant", func(cfg *router.Config) {
					cfg.Ledger = kill{Ledger: k.ledger, Recorder: recorder, Replies: replies}
				}, fee(cent))
				_, err := dying.router.Decide(t.Context(), keyedCall("a"))
				require.ErrorIs(t, err, errKilled)
				_, err = k.router.Decide(t.Context(), keyedCall("a"))
				require.Equal(t, router.Timeout, fault(t, err).Class, "the claim is not dead yet")
				k.asked(0)
				time.Sleep(time.Minute)
				if expires {
					n, err := k.ledger.Expire(t.Context(), time.Now(), 10, router.ExpirePost)
					require.NoError(t, err)
					require.Equal(t, 1, n)
					k.spent(cent)
				}
				var all sync.WaitGroup
				for range 4 {
					all.Go(func() { k.answers(keyedCall("a")) })
				}
				all.Wait()
				k.asked(1)
				k.spent(cent)
			})
		})
	}
}

// forgetful is a ledger that does not know a hold at first, as with leases: the
// first Void gives back nothing.
type forgetful struct {
	router.Ledger
	router.Recorder
	router.Replies

	heard bool
}

func (f *forgetful) Void(ctx context.Context, hold uuid.UUID) error {
	if !f.heard {
		f.heard = true
		return nil
	}
	return f.Ledger.Void(ctx, hold)
}

// A call whose claim another call took over is not charged.
func TestASleeperIsNotChargedBesideItsHeir(t *testing.T) {
	t.Parallel()
	for _, knows := range []bool{true, false} {
		sleeps(t, knows)
	}
}

func sleeps(t *testing.T, knows bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := newClock()
		k := newKeyed(t, withClock(clock), func(cfg *router.Config) {
			recorder, _ := cfg.Ledger.(router.Recorder)
			replies, _ := cfg.Ledger.(router.Replies)
			cfg.Ledger = &forgetful{cfg.Ledger, recorder, replies, knows}
		})
		k.ant.will(slow(time.Second, answer), answer)
		asleep := make(chan error)
		go func() {
			_, err := k.router.Decide(t.Context(), keyedCall("a"))
			asleep <- err
		}()
		synctest.Wait()
		clock.step(2 * time.Minute)
		k.answers(keyedCall("a"))
		require.ErrorIs(t, <-asleep, router.ErrConflict)
		k.asked(2)
		k.spent(cent)
		_, err := k.ledger.Expire(t.Context(), clock.now().Add(time.Hour), 10, router.ExpirePost)
		require.NoError(t, err)
		k.spent(cent)
	})
}

func TestRepliesAreKeptForADay(t *testing.T) {
	t.Parallel()
	clock := newClock()
	k := newKeyed(t, withClock(clock))
	k.answers(keyedCall("a"))
	clock.step(router.RepliesKept - time.Second)
	k.answers(keyedCall("a"))
	k.asked(1)
	clock.step(time.Second)
	k.answers(keyedCall("a"))
	k.asked(2)
	k.spent(2 * cent)
}

// plainBooks is a ledger that keeps no replies.
type plainBooks struct{ router.Ledger }

func TestALedgerWithoutRepliesAnswersAnew(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.rig = newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = plainBooks{k.ledger} }, fee(cent))
	k.ant = k.upstreams["ant"]
	k.answers(keyedCall("a"))
	k.answers(keyedCall("a"))
	k.asked(2)
	k.spent(2 * cent)
}

// A kept reply comes back byte for byte, whatever its legends contain.
func TestLegendsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, gives := range []bool{true, false} {
		k := newKeyed(t)
		k.rig = newRig(t, "ant", func(cfg *router.Config) { cfg.Ledger = k.ledger }, func(e *router.Endpoint) {
			e.Tolerance.NoDistribution = !gives
		})
		k.ant = k.upstreams["ant"]
		call := func() *router.Call {
			c := keyedCall("a")
			c.Request = &systemone.Request{Model: modelM, State: json.RawMessage(`"x"`), Questions: []systemone.Question{{
				Name: "<&>\u2028", Kind: systemone.Score, Instructions: json.RawMessage(`"?"`),
				Levels: []json.RawMessage{json.RawMessage(`{ "a" : "<b>" }`), json.RawMessage(`null`), json.RawMessage(`"c"`)},
			}}}
			c.Validated = c.Request
			return c
		}
		k.ant.will(func(_ context.Context, a router.Attempt) (router.Reply, error) {
			answer := systemone.Answer{Name: "<&>\u2028", Kind: systemone.Score, Score: 1.25}
			if gives {
				answer.Probabilities = []systemone.Probability{{Label: "0", P: 0.25}, {Label: "1", P: 0.25}, {Label: "2", P: 0.5}}
			}
			return router.Reply{Answers: systemone.Answers{answer}, Usage: systemone.Usage{InputTokens: 1, OutputTokens: 1}, Model: a.Model}, nil
		})
		first, err := k.router.Decide(t.Context(), call())
		require.NoError(t, err)
		assert.Equal(t, string(first.Response.AppendJSON(nil)), string(k.answers(call()).Response.AppendJSON(nil)))
	}
}

// claimless loses the reply to its first Claim.
type claimless struct {
	router.Ledger
	router.Recorder
	router.Replies

	lost bool
}

func (l *claimless) Claim(ctx context.Context, c router.Claim) (router.Claimed, error) {
	got, err := l.Replies.Claim(ctx, c)
	if !l.lost {
		l.lost = true
		return router.Claimed{}, router.ErrUnavailable
	}
	return got, err
}

// A call whose Claim failed may still have the claim, so it releases it: no other
// call has to wait.
func TestAClaimWhoseOutcomeIsUnknownIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKeyed(t, func(cfg *router.Config) {
			recorder, _ := cfg.Ledger.(router.Recorder)
			replies, _ := cfg.Ledger.(router.Replies)
			cfg.Ledger = &claimless{Ledger: cfg.Ledger, Recorder: recorder, Replies: replies}
		})
		_, err := k.router.Decide(t.Context(), keyedCall("a"))
		assert.Equal(t, router.NoCapacity, fault(t, err).Class)
		began := time.Now()
		k.answers(keyedCall("a"))
		assert.Zero(t, time.Since(began))
		k.asked(1)
		k.spent(cent)
	})
}
