package sqlledger_test

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// In every history the stored sums are what the events and the open holds add up to.
// The names of owners are part of the check: Go makes them for lines, SQL for events.
func TestVerifyAgreesWithEveryHistory(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		rapid.Check(t, func(rt *rapid.T) {
			b.empty(t)
			h := history{books: b, ctx: t.Context(), now: noon()}
			rt.Repeat(map[string]func(*rapid.T){
				"reserve": h.reserve, "settle": h.settleOne, "void": h.void, "expire": h.expire, "free": h.free, "wait": h.wait,
			})
			found, err := b.verify(t.Context())
			require.NoError(rt, err)
			require.Empty(rt, found.Differences)
			require.Equal(rt, h.events > 0, found.Events > 0)
		})
	})
}

// history is the state of one run.
type history struct {
	books

	ctx    context.Context //nolint:containedctx // of one test
	now    time.Time
	holds  []router.Hold
	events int
	ids    uint64
}

// oddly draws a text that is hard to quote, or the empty text.
func oddly() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "a", "a/b", "b", "Ä", "a'b", `"`, "$1", "?1", "%", "{n}", ":", "a b", "--", "\\", "\n", "ß", "ss", "A"})
}

func (h *history) reserve(t *rapid.T) {
	p := router.Principal{
		Account: oddly().Filter(func(s string) bool { return s != "" }).Draw(t, "account"),
		Member:  oddly().Draw(t, "member"), Workspace: oddly().Draw(t, "workspace"), KeyHash: oddly().Draw(t, "key"),
	}
	hold := holdOf(h.newID(t), p, h.now, amount(t))
	hold.Amount.Credit = router.USD(rapid.Int64Range(0, int64(hold.Amount.Total)).Draw(t, "credit"))
	require.NoError(t, h.Ledger.Reserve(h.ctx, hold))
	h.holds = append(h.holds, hold)
}

// newID returns an ID that no other hold has. Its first byte is drawn.
func (h *history) newID(t *rapid.T) uuid.UUID {
	h.ids++
	id := uuid.UUID{rapid.Byte().Draw(t, "id")}
	binary.BigEndian.PutUint64(id[8:], h.ids)
	return id
}

func amount(t *rapid.T) router.USD { return router.USD(rapid.Int64Range(1, 1<<40).Draw(t, "amount")) }

// any draws a hold, open or closed.
func (h *history) any(t *rapid.T) router.Hold {
	if len(h.holds) == 0 {
		t.Skip("no hold")
	}
	return rapid.SampledFrom(h.holds).Draw(t, "hold")
}

// settleOne settles a hold, possibly again. The cost depends on its ID only.
func (h *history) settleOne(t *rapid.T) {
	hold := h.any(t)
	cost := router.USD(hold.ID[0]) * router.Dollar / 100
	e := used(hold, cost)
	second := e
	second.ID, second.Requests, second.Model = second.ID+"/1", 0, "acme/other"
	e.Cost.Credit = 0
	sum := router.Amount{Credit: second.Cost.Credit, Total: 2 * cost}
	recorder, ok := h.Ledger.(router.Recorder)
	require.True(t, ok)
	err := recorder.SettleWith(h.ctx, hold.ID, sum, []router.Event{e, second})
	if err != nil {
		require.ErrorIs(t, err, router.ErrNoHold) // forgotten
		return
	}
	h.events++
}

func (h *history) void(t *rapid.T) { require.NoError(t, h.Ledger.Void(h.ctx, h.any(t).ID)) }

func (h *history) expire(t *rapid.T) {
	policy := rapid.SampledFrom([]router.Expiry{router.ExpirePost, router.ExpirePost, router.ExpireVoid}).Draw(t, "policy")
	n, err := h.Ledger.Expire(h.ctx, h.now, rapid.IntRange(0, 5).Draw(t, "limit"), policy)
	require.NoError(t, err)
	if policy == router.ExpirePost {
		h.events += n
	}
}

// free records a call that cost nothing, without a hold.
func (h *history) free(t *rapid.T) {
	e := used(holdOf(h.newID(t), someone(), h.now, 1), 0)
	e.Principal.Account = "free"
	require.NoError(t, h.Activity.Record(h.ctx, []router.Event{e, e}))
	h.events++
}

func (h *history) wait(t *rapid.T) {
	h.now = h.now.Add(time.Duration(rapid.Int64Range(0, int64(40*time.Hour)).Draw(t, "time")))
}
