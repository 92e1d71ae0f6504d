package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func (d *desk) granted() {
	c := d.grants(d.claimOf("a"))
	d.grants(c)
	d.grants(d.claimOf("b"))
}

func (d *desk) inFlight() {
	first, second := d.grants(d.claimOf("a")), d.claimOf("a")
	d.claims(second, router.Claimed{Hold: first.Hold})
	second.Now = first.Deadline
	d.claims(second, router.Claimed{Hold: first.Hold})
	second.After = first.Hold
	d.claims(second, router.Claimed{Hold: first.Hold})
}

func (d *desk) separateKeys() {
	for _, key := range []router.ReplyKey{
		{Account: "acme", KeyHash: "k", Key: "a"},
		{Account: "acme", KeyHash: "k", Key: "A"},
		{Account: "acme", KeyHash: "other", Key: "a"},
		{Account: "other", KeyHash: "k", Key: "a"},
		{Account: "", KeyHash: "", Key: "a"},
		{Account: "acmek", KeyHash: "", Key: "a"},
		{Account: "", KeyHash: "acmek", Key: "a"},
		{Account: "acme", KeyHash: "k", Key: strings.Repeat("~", 128)},
		{Account: "acme", KeyHash: "k", Key: `'"\{n};--%`},
	} {
		c := d.claimOf("")
		c.Key = key
		d.grants(c)
		require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, fmt.Sprintf("%q", key))))
		d.finds(c, c.Hold, fmt.Sprintf("%q", key))
	}
}

func (d *desk) reused() {
	c := d.grants(d.claimOf("a"))
	for range 2 {
		other := d.claimOf("a")
		other.Digest = [32]byte{31: 1}
		_, err := d.Claim(d.t.Context(), other)
		require.ErrorIs(d.t, err, router.ErrReused)
		require.NoError(d.t, d.Keep(d.t.Context(), replyOf(c, "kept")))
	}
}

func (d *desk) released() {
	first, second := d.grants(d.claimOf("a")), d.claimOf("a")
	require.NoError(d.t, d.Release(d.t.Context(), first.Key, second.Hold))
	d.claims(second, router.Claimed{Hold: first.Hold})
	for range 2 {
		require.NoError(d.t, d.Release(d.t.Context(), first.Key, first.Hold))
	}
	second.Digest = [32]byte{2}
	d.grants(second)
	require.NoError(d.t, d.Keep(d.t.Context(), replyOf(second, "kept")))
	require.NoError(d.t, d.Release(d.t.Context(), second.Key, second.Hold))
	d.finds(second, second.Hold, "kept")
}

func (d *desk) dead() {
	first, second := d.grants(d.claimOf("a")), d.claimOf("a")
	second.Now = first.Deadline.Add(time.Millisecond)
	second.Deadline = second.Now.Add(time.Minute)
	d.claims(second, router.Claimed{Hold: first.Hold, Dead: true})
	second.After = uuid.New()
	d.claims(second, router.Claimed{Hold: first.Hold, Dead: true})
	second.After = first.Hold
	d.grants(second)
	third := d.claimOf("a")
	third.Now, third.After = second.Now, first.Hold
	d.claims(third, router.Claimed{Hold: second.Hold})
	require.NoError(d.t, d.Release(d.t.Context(), first.Key, first.Hold))
	d.claims(third, router.Claimed{Hold: second.Hold})
}

// take gives a dead claim to another call.
func (d *desk) take(first router.Claim) router.Claim {
	d.t.Helper()
	c := first
	c.Hold, c.After, c.Now = uuid.New(), first.Hold, first.Deadline.Add(time.Second)
	c.Deadline = c.Now.Add(time.Minute)
	require.NoError(d.t, d.Void(d.t.Context(), first.Hold))
	return d.grants(c)
}

func (d *desk) taken() {
	first := d.grants(d.claimOf("a"))
	d.holds(first)
	second := d.take(first)
	ctx := d.t.Context()
	require.ErrorIs(d.t, d.SettleKept(ctx, replyOf(first, "late"), amount(2, 2), []router.Event{used("late/0", 2, 2)}), router.ErrConflict)
	require.ErrorIs(d.t, d.Keep(ctx, replyOf(first, "late")), router.ErrConflict)
	d.stands(amount(0, 0), amount(0, 0))
	d.holds(second)
	d.settles(second, "second", amount(1, 1))
	require.ErrorIs(d.t, d.SettleKept(ctx, replyOf(first, "late"), amount(2, 2), nil), router.ErrConflict)
	d.stands(amount(1, 1), amount(0, 0))
	d.finds(second, second.Hold, "second")
}

func (d *desk) takenOpen() {
	first := d.grants(d.claimOf("a"))
	d.holds(first)
	second := d.claimOf("a")
	second.After, second.Now = first.Hold, first.Deadline.Add(time.Second)
	second.Deadline = second.Now.Add(time.Minute)
	d.grants(second)
	require.ErrorIs(d.t, d.SettleKept(d.t.Context(), replyOf(first, "late"), amount(2, 2), nil), router.ErrConflict)
	d.stands(amount(0, 0), amount(3, 3))
	d.claims(second, router.Claimed{Hold: second.Hold})
}

func (d *desk) gone() {
	c := d.claimOf("a")
	d.holds(c)
	d.settles(c, "nobody's", amount(2, 2))
	d.stands(amount(2, 2), amount(0, 0))
	d.grants(d.claimOf("a"))
}
