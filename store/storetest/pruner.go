package storetest

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

func testPruner(t *testing.T, open Open) {
	t.Helper()
	if set := open(t); !records(set) || set.Pruner == nil {
		t.Skip("there is no Pruner, or no Ledger that records")
	}
	for name, test := range map[string]func(*archive){
		"older data is dropped, the rest stays":                          (*archive).drops,
		"what limits depend on stays, also between two portions":         (*archive).keepsLines,
		"a line with an open hold stays":                                 (*archive).keepsHolds,
		"a hold that is closed after its lines are gone still counts":    (*archive).closesLate,
		"a lap ends, and another one begins":                             (*archive).laps,
		"a lap ends however much is written meanwhile":                   (*archive).outruns,
		"a later instant drops more, an earlier one brings nothing back": (*archive).advances,
		"days that stay show the same sums for each reason":              (*archive).reasons,
		"records of changes are dropped":                                 (*archive).changes,
		"concurrent calls drop each row once":                            (*archive).rivals,
		"methods honour their context":                                   (*archive).over,
	} {
		t.Run(name, func(t *testing.T) {
			set := open(t)
			recorder, ok := set.Ledger.(router.Recorder)
			require.True(t, ok)
			test(&archive{t: t, set: set, recorder: recorder})
		})
	}
}

// archive is a store with calls of many days.
type archive struct {
	t        *testing.T
	set      store.Set
	recorder router.Recorder
	calls    int
}

func (a *archive) someone() router.Principal {
	return router.Principal{Account: "acme", Workspace: "w", KeyHash: "k", Member: "ann"}
}

// lines returns the lines that count the calls of a day.
func (a *archive) lines(day time.Time) (lines []router.Line) {
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for i := range router.Daily + 1 {
			lines = append(lines, owner.Line(a.someone(), i.Window(day)))
		}
	}
	return lines
}

// reserve reserves a hold of 2 nano-dollars for a call of a day. The reasons of the
// calls' events alternate.
func (a *archive) reserve(day time.Time) (uuid.UUID, router.Event) {
	a.t.Helper()
	a.calls++
	e := activityEvent("e"+strconv.Itoa(a.calls), day.Format(time.DateOnly), a.someone())
	e.Reason = []router.LegReason{router.LegFirst, router.LegEscalated}[a.calls%2]
	h := router.Hold{ID: uuid.New(), Lines: a.lines(day), Amount: amount(2, 2), Deadline: day.Add(time.Minute), Event: e}
	require.NoError(a.t, a.set.Ledger.Reserve(a.t.Context(), h))
	return h.ID, e
}

// call charges 1 nano-dollar on a day.
func (a *archive) call(day time.Time) {
	a.t.Helper()
	hold, e := a.reserve(day)
	a.settle(hold, e)
}

func (a *archive) settle(hold uuid.UUID, e router.Event) {
	a.t.Helper()
	e.Cost = amount(1, 1)
	require.NoError(a.t, a.recorder.SettleWith(a.t.Context(), hold, e.Cost, []router.Event{e}))
}

// spent returns what the account has spent in a window.
func (a *archive) spent(window string) router.USD {
	a.t.Helper()
	b, err := a.set.Ledger.Balances(a.t.Context(), []router.Line{router.OwnerAccount.Line(a.someone(), window)})
	require.NoError(a.t, err)
	return b[0].Spent.Credit
}

// requests returns the number of calls that activity shows for some days.
func (a *archive) requests(from, to string) (n int64) {
	a.t.Helper()
	for _, of := range []activity.Range{{}, {KeyHash: "k"}, {Member: "ann"}} {
		of.Account, of.From, of.To = "acme", from, to
		items, err := a.set.Activity.Items(a.t.Context(), of)
		require.NoError(a.t, err)
		var sum int64
		for i := range items {
			sum += items[i].Requests
		}
		if of.KeyHash == "" && of.Member == "" {
			n = sum
		}
		assert.Equal(a.t, n, sum, of)
	}
	return n
}

// manyPortions is more than any lap of these tests needs.
const manyPortions = 1000

// prune runs one lap in portions and calls look after each of them.
func (a *archive) prune(before time.Time, limit int, look func()) (dropped int) {
	a.t.Helper()
	place := ""
	for range manyPortions {
		pruned, err := a.set.Pruner.Prune(a.t.Context(), before, place, limit)
		require.NoError(a.t, err)
		if dropped += pruned.Dropped; look != nil {
			look()
		}
		if a.t.Failed() {
			a.t.FailNow() // the other portions would fail alike
		}
		if place = pruned.Next; place == "" {
			return dropped
		}
	}
	require.FailNow(a.t, "the lap does not end")
	return 0
}

// The 21st of November 2026 is a Saturday: neither a week nor a month begins.
func (a *archive) drops() {
	for day := range 8 {
		a.call(noon().AddDate(0, 0, -day))
	}
	assert.Equal(a.t, int64(8), a.requests("2026-11-01", "2026-11-30"))
	dropped := a.prune(noon(), 3, func() {
		assert.Equal(a.t, int64(1), a.requests("2026-11-21", "2026-11-30"))
		assert.Zero(a.t, a.requests("2026-11-01", "2026-11-20"), "nothing is shown in part")
	})
	assert.GreaterOrEqual(a.t, dropped, 7)
	for day := range 8 {
		want := router.USD(0)
		if day == 0 {
			want = 1
		}
		assert.Equal(a.t, want, a.spent(noon().AddDate(0, 0, -day).Format(time.DateOnly)), day)
	}
}

func (a *archive) keepsLines() {
	for day := range 40 { // 21 of November, 19 of October; 6 of the week
		a.call(noon().AddDate(0, 0, -day))
	}
	look := func() {
		assert.Equal(a.t, router.USD(40), a.spent("ever"))
		assert.Equal(a.t, router.USD(21), a.spent("2026-11"))
		assert.Equal(a.t, router.USD(6), a.spent("2026-W47"))
	}
	for range 2 {
		a.prune(noon(), 16, look)
		a.call(noon().AddDate(0, 0, -100)) // late: it adds to what was carried
		a.call(noon().AddDate(1, 0, 0))
		look = func() { assert.GreaterOrEqual(a.t, a.spent("ever"), router.USD(42)) }
	}
	a.prune(noon().AddDate(2, 0, 0), 16, nil)
	assert.Equal(a.t, router.USD(44), a.spent("ever"))
	assert.Zero(a.t, a.spent("2026-11"))
	assert.Zero(a.t, a.spent("2026-W47"))
}

func (a *archive) keepsHolds() {
	hold, e := a.reserve(noon())
	assert.Zero(a.t, a.prune(noon().AddDate(1, 0, 0), 1000, nil), "what stays was not dropped")
	b, err := a.set.Ledger.Balances(a.t.Context(), a.lines(noon()))
	require.NoError(a.t, err)
	for _, on := range b {
		assert.Equal(a.t, amount(2, 2), on.Held)
	}
	a.settle(hold, e)
	assert.Equal(a.t, router.USD(1), a.spent("ever"))
	a.prune(noon().AddDate(1, 0, 0), 1000, nil)
	assert.Equal(a.t, router.USD(1), a.spent("ever"))
	assert.Zero(a.t, a.spent("2026-11-21"))
}

// closesLate prunes while closed holds of the pruned day may still be settled for the first
// time, corrected or voided. Their lines are gone. Lines of windows that are not over must
// count them, whenever their events are pruned.
func (a *archive) closesLate() {
	ctx := a.t.Context()
	postedThenVoid, _ := a.reserve(noon())
	postedThenSettled, e1 := a.reserve(noon())
	voidedThenSettled, e2 := a.reserve(noon())
	require.NoError(a.t, a.set.Ledger.Void(ctx, voidedThenSettled))
	n, err := a.set.Ledger.Expire(ctx, noon().Add(time.Hour), 10, router.ExpirePost)
	require.NoError(a.t, err)
	assert.Equal(a.t, 2, n)
	assert.Equal(a.t, router.USD(4), a.spent("ever"))
	a.prune(noon().AddDate(1, 0, 0), 2, nil)
	assert.Equal(a.t, router.USD(4), a.spent("ever"))
	for range 2 { // the second time changes nothing
		require.NoError(a.t, a.set.Ledger.Void(ctx, postedThenVoid))
		a.settle(postedThenSettled, e1)
		a.settle(voidedThenSettled, e2)
		assert.Equal(a.t, router.USD(2), a.spent("ever"))
		assert.Zero(a.t, a.spent("2026-11-21"))
	}
	a.prune(noon().AddDate(1, 0, 0), 2, nil)
	assert.Equal(a.t, router.USD(2), a.spent("ever"))
	a.call(noon()) // pruned lines start again at zero
	assert.Equal(a.t, router.USD(3), a.spent("ever"))
	assert.Equal(a.t, router.USD(1), a.spent("2026-11-21"))
}

func (a *archive) laps() {
	a.call(noon().AddDate(0, 0, -1))
	assert.Positive(a.t, a.prune(noon(), 1, nil))
	assert.Zero(a.t, a.prune(noon(), 1, nil))
	a.call(noon().AddDate(0, 0, -1))
	assert.Positive(a.t, a.prune(noon(), 0, nil), "a limit below 1 is 1")
	_, err := a.set.Pruner.Prune(a.t.Context(), noon(), "nonsense", 10)
	require.NoError(a.t, err)
}

// outruns writes, after each portion, more rows than a portion visits, all of them behind the
// existing ones.
func (a *archive) outruns() {
	a.calls = 1_000_000 // so that the IDs of events sort by time
	a.call(noon().AddDate(0, 0, -1))
	portions := 0
	a.prune(noon(), 1, func() {
		portions++
		require.Less(a.t, portions, 40, "the lap does not end")
		for range 10 {
			a.call(noon())
		}
	})
}

func (a *archive) advances() {
	for day := range 3 {
		a.call(noon().AddDate(0, 0, -day))
	}
	a.prune(noon().AddDate(0, 0, -1), 10, nil)
	assert.Equal(a.t, int64(2), a.requests("2026-11-01", "2026-11-30"))
	a.prune(noon().AddDate(0, 0, -5), 10, nil)
	assert.Equal(a.t, int64(2), a.requests("2026-11-01", "2026-11-30"))
	a.prune(noon(), 10, nil)
	assert.Equal(a.t, int64(1), a.requests("2026-11-01", "2026-11-30"))
}

func (a *archive) reasons() {
	for call := range 8 {
		a.call(noon().AddDate(0, 0, -call/2))
	}
	of := activity.Range{Account: "acme", From: "2026-11-20", To: "2026-11-21"}
	before := sumsIn(a.t, a.set.Activity, of)
	require.Len(a.t, before, 4)
	a.prune(noon().AddDate(0, 0, -1), 1, func() {
		assert.Equal(a.t, before, sumsIn(a.t, a.set.Activity, of))
	})
}

func (a *archive) changes() {
	if a.set.Keys == nil || a.set.Audit == nil {
		a.t.Skip("there are no Keys, or no Audit")
	}
	account := sampleKey("").Account
	for i := range 4 {
		hash := strings.Repeat(strconv.Itoa(i), 64)
		c := keyChange("create", hash)
		c.At = noon().AddDate(0, 0, -i)
		require.NoError(a.t, a.set.Keys.Create(a.t.Context(), sampleKey(hash), c))
	}
	a.prune(noon().AddDate(0, 0, -1), 1, nil)
	list, total, err := a.set.Audit.Changes(a.t.Context(), account, 0, 10)
	require.NoError(a.t, err)
	assert.Equal(a.t, 2, total)
	for _, c := range list {
		assert.False(a.t, c.At.Before(noon().AddDate(0, 0, -1).Truncate(24*time.Hour)))
	}
}

func (a *archive) rivals() {
	for day := range 60 {
		a.call(noon().AddDate(0, 0, -day))
	}
	done := make(chan error)
	for range 3 {
		go func() {
			place := ""
			for range manyPortions {
				pruned, err := a.set.Pruner.Prune(a.t.Context(), noon(), place, 20)
				if place = pruned.Next; err != nil || place == "" {
					done <- err
					return
				}
			}
			done <- errors.New("the lap does not end")
		}()
	}
	var all error
	for range 3 {
		all = errors.Join(all, <-done)
	}
	require.NoError(a.t, all)
	a.prune(noon(), 100, nil)
	assert.Equal(a.t, router.USD(60), a.spent("ever"))
	assert.Equal(a.t, router.USD(21), a.spent("2026-11"))
	assert.Equal(a.t, int64(1), a.requests("2026-09-01", "2026-11-30"))
}

func (a *archive) over() {
	ctx, cancel := context.WithCancel(a.t.Context())
	cancel()
	_, err := a.set.Pruner.Prune(ctx, noon(), "", 10)
	require.ErrorIs(a.t, err, context.Canceled)
}
