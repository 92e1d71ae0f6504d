package storetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func testReplies(t *testing.T, open Open) {
	t.Helper()
	if _, ok := open(t).Ledger.(router.Replies); !ok {
		t.Skip("the Ledger is no Replies")
	}
	for name, test := range map[string]func(*desk){
		"the first claim is granted, and the same again":                    (*desk).granted,
		"while a call is in flight others see its hold":                     (*desk).inFlight,
		"a reply is kept with its settlement":                               (*desk).kept,
		"a reply without a hold is kept":                                    (*desk).keptFree,
		"keys of other accounts and API keys are different":                 (*desk).separateKeys,
		"another digest is refused":                                         (*desk).reused,
		"a claim that is released is free, a reply stays":                   (*desk).released,
		"a dead claim goes to the call that has seen it dead":               (*desk).dead,
		"a call whose claim was taken settles and keeps nothing":            (*desk).taken,
		"a call whose claim was taken while its hold is open keeps nothing": (*desk).takenOpen,
		"a call whose claim is gone settles and keeps nothing":              (*desk).gone,
		"a settlement that fails keeps nothing":                             (*desk).unsettled,
		"settling with a reply twice is a no-op":                            (*desk).twice,
		"a reply of a day ago does not count":                               (*desk).dayAfter,
		"a call that is in flight for days keeps its claim":                 (*desk).longFlight,
		"expiry drops all replies of a day ago, none in flight":             (*desk).expiry,
		"the oldest replies beyond an API key's bound are dropped":          (*desk).bounded,
		"methods honour their context":                                      (*desk).contextOver,
		"any reply comes back byte by byte":                                 (*desk).bytes,
		"of concurrent claims one is granted":                               (*desk).rivalClaims,
		"of concurrent calls for a dead claim one gets it":                  (*desk).rivalHeirs,
		"concurrent settlement and takeover charge once":                    (*desk).rivalTakers,
	} {
		t.Run(name, func(t *testing.T) {
			ledger := open(t).Ledger
			replies, ok := ledger.(router.Replies)
			require.True(t, ok)
			test(&desk{books: books{t: t, Ledger: ledger}, Replies: replies})
		})
	}
}

// desk is an empty ledger that keeps replies.
type desk struct {
	books
	router.Replies
}

// claimOf returns a claim of acme's key k at noon, with a new hold.
func (d *desk) claimOf(key string) router.Claim {
	return router.Claim{
		Key: router.ReplyKey{Account: "acme", KeyHash: "k", Key: key}, Digest: [32]byte{1},
		Hold: uuid.New(), Now: noon(), Deadline: noon().Add(time.Minute), Most: 100,
	}
}

func (d *desk) claims(c router.Claim, want router.Claimed) {
	d.t.Helper()
	got, err := d.Claim(d.t.Context(), c)
	require.NoError(d.t, err)
	assert.Equal(d.t, want, got)
}

// grants requires that a claim is granted.
func (d *desk) grants(c router.Claim) router.Claim {
	d.t.Helper()
	d.claims(c, router.Claimed{Hold: c.Hold})
	return c
}

// holds reserves 3 for the call of a claim.
func (d *desk) holds(c router.Claim) {
	d.t.Helper()
	h := d.hold(3, 3)
	h.ID, h.Deadline = c.Hold, c.Deadline
	d.reserve(h)
}

func replyOf(c router.Claim, text string) router.Kept {
	return router.Kept{Key: c.Key, Hold: c.Hold, Reply: []byte(text)}
}

func (d *desk) settles(c router.Claim, text string, cost router.Amount) {
	d.t.Helper()
	require.NoError(d.t, d.SettleKept(d.t.Context(), replyOf(c, text), cost, nil))
}

// finds requires that a call with the same key and digest as c gets a reply.
func (d *desk) finds(c router.Claim, hold uuid.UUID, text string) {
	d.t.Helper()
	c.Hold = uuid.New()
	d.claims(c, router.Claimed{Hold: hold, Reply: []byte(text)})
}

func (d *desk) kept() {
	c := d.grants(d.claimOf("a"))
	d.holds(c)
	d.settles(c, `{"x":1}`, amount(2, 2))
	d.stands(amount(2, 2), amount(0, 0))
	d.finds(c, c.Hold, `{"x":1}`)
	d.claims(c, router.Claimed{Hold: c.Hold, Reply: []byte(`{"x":1}`)})
}

func (d *desk) keptFree() {
	c := d.grants(d.claimOf("a"))
	for range 2 {
		require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "free")))
		d.finds(c, c.Hold, "free")
	}
	require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "other")))
	d.finds(c, c.Hold, "free")
	require.NoError(d.t, d.Keep(d.t.Context(), replyOf(d.claimOf("b"), "nobody's")))
	d.grants(d.claimOf("b"))
}

func (d *desk) unsettled() {
	ctx := d.t.Context()
	c := d.grants(d.claimOf("a"))
	require.ErrorIs(d.t, d.SettleKept(ctx, replyOf(c, "x"), amount(1, 1), nil), router.ErrNoHold)
	d.grants(c)
	d.holds(c)
	d.settle(c.Hold, amount(1, 1))
	require.ErrorIs(d.t, d.SettleKept(ctx, replyOf(c, "x"), amount(2, 2), nil), router.ErrConflict)
	d.grants(c)
	d.settles(c, "x", amount(1, 1))
	d.finds(c, c.Hold, "x")
}

func (d *desk) twice() {
	c := d.grants(d.claimOf("a"))
	d.holds(c)
	for _, text := range []string{"first", "first", "other"} {
		d.settles(c, text, amount(2, 2))
		d.stands(amount(2, 2), amount(0, 0))
		d.finds(c, c.Hold, "first")
	}
}

func (d *desk) dayAfter() {
	c := d.grants(d.claimOf("a"))
	require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "kept")))
	c.Now = noon().Add(router.RepliesKept - time.Millisecond)
	d.finds(c, c.Hold, "kept")
	next := d.claimOf("a")
	next.Now, next.Digest = noon().Add(router.RepliesKept), [32]byte{2}
	next.Deadline = next.Now.Add(time.Minute)
	d.grants(next)
	require.ErrorIs(d.t, d.Keep(d.t.Context(), replyOf(c, "late")), router.ErrConflict)
}

func (d *desk) longFlight() {
	c := d.claimOf("a")
	c.Deadline = noon().Add(48 * time.Hour)
	d.grants(c)
	other := d.claimOf("a")
	other.Now, other.After = c.Deadline, c.Hold
	_, err := d.Expire(d.t.Context(), c.Deadline, 10, router.ExpirePost)
	require.NoError(d.t, err)
	d.claims(other, router.Claimed{Hold: c.Hold})
}

func (d *desk) expiry() {
	for i := range 5 {
		c := d.claimOf(fmt.Sprint("kept", i))
		d.grants(c)
		require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "kept")))
	}
	d.grants(d.claimOf("dead"))
	young, flying := d.claimOf("young"), d.claimOf("flying")
	young.Now = noon().Add(2 * time.Second)
	d.grants(young)
	require.NoError(d.t, d.Keep(d.t.Context(), replyOf(young, "young")))
	flying.Deadline = noon().Add(48 * time.Hour)
	d.grants(flying)
	_, err := d.Expire(d.t.Context(), noon().Add(router.RepliesKept+time.Second), 2, router.ExpirePost)
	require.NoError(d.t, err)
	assert.Zero(d.t, d.there("kept0", "kept1", "kept2", "kept3", "kept4", "dead"), "more than the limit, which is of holds")
	assert.Equal(d.t, 2, d.there("young", "flying"))
}

// there returns how many of the keys are claimed at noon. It changes nothing.
func (d *desk) there(keys ...string) (n int) {
	d.t.Helper()
	for _, key := range keys {
		c := d.claimOf(key)
		got, err := d.Claim(d.t.Context(), c)
		require.NoError(d.t, err)
		if got.Hold != c.Hold {
			n++
		}
		require.NoError(d.t, d.Release(d.t.Context(), c.Key, c.Hold))
	}
	return n
}

func (d *desk) bounded() {
	flying, other := d.claimOf("flying"), d.claimOf("other")
	flying.Deadline = noon().Add(time.Hour)
	d.grants(flying)
	other.Key.KeyHash = "other"
	d.grants(other)
	for i := range 20 {
		c := d.claimOf(strconv.Itoa(i))
		c.Now, c.Most = noon().Add(time.Duration(i)*time.Millisecond), 10
		d.grants(c)
		if i != 1 {
			require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "kept")))
		}
	}
	assert.Equal(d.t, 2, d.there("flying", "1"), "in flight")
	assert.Zero(d.t, d.there("0", "2", "3", "4", "5", "6", "7", "8", "9"), "the oldest")
	assert.Equal(d.t, 8, d.there("12", "13", "14", "15", "16", "17", "18", "19"))
	d.claims(other, router.Claimed{Hold: other.Hold})
}

func (d *desk) contextOver() {
	ctx, cancel := context.WithCancel(d.t.Context())
	cancel()
	c := d.claimOf("a")
	_, err := d.Claim(ctx, c)
	require.ErrorIs(d.t, err, context.Canceled)
	require.ErrorIs(d.t, d.SettleKept(ctx, replyOf(c, "x"), amount(1, 1), nil), context.Canceled)
	require.ErrorIs(d.t, d.Keep(ctx, replyOf(c, "x")), context.Canceled)
	require.ErrorIs(d.t, d.Release(ctx, c.Key, c.Hold), context.Canceled)
}

func (d *desk) bytes() {
	for i, text := range []string{"x", "null", "{}", `{"a":"\u0000"}`, "'", "\u2028\U0001f600é", " \n", strings.Repeat("0123456789", 1<<15)} {
		c := d.grants(d.claimOf(strconv.Itoa(i)))
		d.holds(c)
		d.settles(c, text, amount(1, 1))
		d.finds(c, c.Hold, text)
	}
	c := d.grants(d.claimOf("empty"))
	require.Error(d.t, d.Keep(d.t.Context(), replyOf(c, "")))
	d.holds(c)
	require.Error(d.t, d.SettleKept(d.t.Context(), replyOf(c, ""), amount(1, 1), nil))
	d.stands(amount(8, 8), amount(3, 3))
}
