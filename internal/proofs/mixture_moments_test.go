package proofs

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// full reports whether the long variants of tests run.
func full() bool { return os.Getenv("SIGNALBOX_TEST_FULL") == "1" }

// deadline is that of calls which are late, in milliseconds.
const deadline = 30

// stories are mixtures of calls over one storage, of which each is checked.
type stories struct {
	*mixture

	t      *testing.T
	spent  router.Amount
	step   int // of the moments that are tried
	bubble bool
	calls  int
}

func newStories(t *testing.T, e engine, step int) *stories {
	t.Helper()
	w := &world{engine: e, t: t, account: "acme"}
	return &stories{mixture: w.mixture(newEventful(t, e.one.Ledger, nil)), t: t, step: step}
}

// moments tells a request again and again, and something happens at each of its
// moments in turn.
func (s *stories) moments(q mixed, what action, key bool) {
	s.t.Helper()
	for n, came := 1, true; came && !s.t.Failed(); n += s.step {
		t := &tale{mixed: q, moments: moments{n: n, what: what, bubble: s.bubble}}
		o := s.once(t, key)
		came = t.moments.name != ""
		if s.t.Failed() {
			s.t.Fatalf("%s, key %t, %s at moment %d (%s): %v", q.name, key, what, n, t.moments.name, o.err)
		}
	}
}

// once makes a call and checks what it leaves.
func (s *stories) once(t *tale, key bool) *told {
	s.t.Helper()
	s.calls++
	name := fmt.Sprint("key-", s.calls)
	keyed := func(c *router.Call) {
		if key {
			c.Idempotency = &router.Idempotency{Key: name}
		}
	}
	o := s.tell(t, keyed, func(c *router.Call) {
		if t.moments.what == late {
			c.Request.Routing = &systemone.Routing{DeadlineMS: deadline}
		}
	})
	charged := o.honest(s.t)
	s.books(o, charged)
	if key && !s.t.Failed() {
		s.again(o, keyed)
	}
	return o
}

// books requires that the ledger, activity and the report of a call show the same
// money, and that nothing is held.
func (s *stories) books(o *told, charged router.Amount) {
	s.t.Helper()
	after := s.stands()
	if o.lost() {
		s.clock.Add(10)
		_, err := s.other.Ledger.Expire(s.t.Context(), s.now(), 10, router.ExpirePost)
		require.NoError(s.t, err)
		after = s.stands()
		assert.GreaterOrEqual(s.t, after.Spent.Total, s.spent.Total+charged.Total)
		s.spent = after.Spent
	} else {
		s.spent.Credit += charged.Credit
		s.spent.Total += charged.Total
	}
	assert.Equal(s.t, router.Balance{Spent: s.spent}, after)
	assert.Equal(s.t, s.spent, s.used().Cost)
}

// again makes the same call again. It gets the reply that was charged, and is not
// charged, or a reply of its own.
func (s *stories) again(o *told, keyed func(*router.Call)) {
	s.t.Helper()
	if o.lost() {
		return
	}
	next := s.tell(&tale{mixed: o.mixed}, keyed)
	charged := next.honest(s.t)
	if next.call.Report.Replayed {
		assert.Zero(s.t, charged)
	}
	s.books(next, charged)
	switch {
	case o.res != nil:
		require.NoError(s.t, next.err)
		assert.True(s.t, next.call.Report.Replayed)
		assert.Equal(s.t, o.text(s.t), next.text(s.t))
		assert.Equal(s.t, o.call.ID, next.call.ID)
	case next.call.Report.Replayed:
		assert.Equal(s.t, classOf(s.t, o.err), classOf(s.t, next.err))
	}
}

func classOf(t *testing.T, err error) router.Class {
	t.Helper()
	var e *router.Error
	require.ErrorAs(t, err, &e)
	return e.Class
}

// all tells every request, calm and with something at each of its moments.
func (s *stories) all() {
	for _, q := range mixedRequests() {
		for _, key := range []bool{false, true} {
			for _, what := range []action{hangsUp, late, fails, dies} {
				s.moments(q, what, key)
			}
		}
	}
	if s.verify != nil {
		s.verify(s.t)
	}
}

// Something happens at each moment of calls with every kind of leg: the caller hangs up,
// the time is over, the ledger or an upstream fails before or after it did what it was
// asked. The reply is honest, charges are by the law, no hold is left open, and in memory
// no goroutine is left either, because the bubble would not end.
func TestSomethingHappensAtEachMoment(t *testing.T) {
	t.Parallel()
	t.Run("in a bubble", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := newStories(t, inMemory(t), 1)
			s.bubble = true
			s.all()
		})
	})
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		newStories(t, e, few(17, 1)).all()
	})
}
