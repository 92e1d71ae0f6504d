package signalbox_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/sqlite"
)

// change changes a limit, a credential, a key or the time.
func (b *books) change(t *rapid.T) {
	ctx := context.Background()
	h := b.drawHolder(t)
	byok := rapid.Bool().Draw(t, "byok")
	limit := fmt.Sprintf("0.%02d", rapid.IntRange(1, 40).Draw(t, "limit"))
	switch rapid.SampledFrom([]string{"key", "workspace", "guardrail", "credits", "credential", "delete", "expire", "hours", "back"}).Draw(t, "change") {
	case "key":
		reset := rapid.SampledFrom([]string{"null", `"daily"`, `"weekly"`, `"monthly"`}).Draw(t, "reset")
		limit := rapid.SampledFrom([]string{"null", limit}).Draw(t, "limit")
		if !h.gone {
			b.manage(t, h, http.MethodPatch, "/keys/"+h.KeyHash, fmt.Sprintf(`{"limit":%s,"limit_reset":%s,"include_byok_in_limit":%t}`, limit, reset, byok), nil)
		}
	case "workspace":
		interval := rapid.SampledFrom([]string{"daily", "weekly", "monthly", "lifetime"}).Draw(t, "interval")
		b.manage(t, h, http.MethodPut, "/workspaces/"+h.Workspace+"/budgets/"+interval, fmt.Sprintf(`{"limit_usd":%s,"include_byok_in_budgets":%t}`, limit, byok), nil)
	case "guardrail":
		guard := rapid.SampledFrom(b.guards).Draw(t, "guardrail")
		b.manage(t, b.holders[0], http.MethodPatch, "/guardrails/"+guard, fmt.Sprintf(`{"limit_usd":%s,"reset_interval":"daily","include_byok_in_budgets":%t}`, limit, byok), nil)
	case "credits":
		by := router.Actor{Principal: router.Principal{Account: h.Account}}
		_, err := b.Organization.TopUp(ctx, by, rapid.StringMatching(`[a-z]{8}`).Draw(t, "payment"), rapid.SampledFrom([]router.USD{cent, router.Dollar}).Draw(t, "paid"))
		require.NoError(t, err)
	case "credential":
		b.giveCredential(t, h)
	case "delete":
		if h != b.holders[0] && !h.gone {
			b.manage(t, h, http.MethodDelete, "/keys/"+h.KeyHash, "", nil)
			h.gone = true
		}
	case "expire":
		_, err := b.ledger.Expire(ctx, b.clock.now().Add(48*time.Hour), 1000, router.ExpirePost)
		require.NoError(t, err)
	case "hours":
		b.clock.move(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)
	case "back":
		b.clock.move(-time.Duration(rapid.IntRange(1, 20).Draw(t, "hours")) * time.Hour)
	}
}

// recorded sums up the activity of an account, a key, a member or one workspace of
// the account.
func (b *books) recorded(t *rapid.T, r activity.Range, workspace string, into map[router.Line]router.Amount, owner router.Owner, p router.Principal) int64 {
	r.From, r.To = "2026-01-01", "2028-12-31"
	items, err := b.stores.Activity.Items(context.Background(), r)
	require.NoError(t, err)
	requests := int64(0)
	for _, item := range items {
		if workspace != "" && item.Workspace != workspace {
			continue
		}
		requests += item.Requests
		day, err := time.Parse(time.DateOnly, item.Date)
		require.NoError(t, err)
		for i := range router.Daily + 1 {
			enter(into, []router.Line{owner.Line(p, i.Window(day))}, item.Cost)
		}
	}
	return requests
}

// agree requires that activity, the ledger, keys and accounts show the same money,
// and that nothing is held except holds that the router could not close. Activity
// has all money if the ledger records it; otherwise it lacks what was lost.
func (b *books) agree(t *rapid.T) {
	ctx := context.Background()
	shown, recorded := map[router.Line]router.Amount{}, maps.Clone(b.ledger.booked)
	if b.records {
		for line, amount := range b.ledger.lost {
			enter(recorded, []router.Line{line}, amount)
		}
	}
	seen := map[string]bool{}
	once := func(name string) bool { first := !seen[name]; seen[name] = true; return first }
	for _, h := range b.holders {
		p := h.Principal
		if once("account " + p.Account) {
			requests := b.recorded(t, activity.Range{Account: p.Account}, "", shown, router.OwnerAccount, p)
			line := router.OwnerAccount.Line(p, "ever")
			require.Equal(t, b.requests(line, p), requests, "who is answered is in the activity")
			credits, err := b.Organization.Credits(ctx, p.Account)
			require.NoError(t, err)
			charged := b.told[p.Account] + b.ledger.left[line].Credit
			require.Equal(t, charged, b.ledger.booked[line].Credit, "the answers say what is charged, but to callers who left")
			require.Equal(t, charged+b.ledger.lost[line].Credit, credits.Used)
		}
		if once("workspace " + p.Workspace) {
			b.recorded(t, activity.Range{Account: p.Account}, p.Workspace, shown, router.OwnerWorkspace, p)
		}
		if p.Member != "" && once("member "+p.Account+p.Member) {
			b.recorded(t, activity.Range{Account: p.Account, Member: p.Member}, "", shown, router.OwnerMember, p)
		}
		b.recorded(t, activity.Range{Account: p.Account, KeyHash: p.KeyHash}, "", shown, router.OwnerKey, p)
		if !h.gone {
			b.agreeKey(t, h)
		}
	}
	require.Equal(t, recorded, shown)
	expected := b.ledger.expected()
	lines := slices.Collect(maps.Keys(expected))
	balances, err := b.ledger.Balances(ctx, lines)
	require.NoError(t, err)
	for i, line := range lines {
		require.Equal(t, expected[line], balances[i], line)
	}
}

// requests returns how many calls the activity of an account must show.
func (b *books) requests(line router.Line, p router.Principal) int64 {
	if b.records {
		return b.answered[p.Account] + b.ledger.lostCalls[line]
	}
	return b.answered[p.Account]
}

// agreeKey compares what GET /keys/{hash} shows.
func (b *books) agreeKey(t *rapid.T, h *holder) {
	var got struct {
		Data struct {
			Usage        router.USD `json:"usage"`
			UsageDaily   router.USD `json:"usage_daily"`
			UsageWeekly  router.USD `json:"usage_weekly"`
			UsageMonthly router.USD `json:"usage_monthly"`
			BYOK         router.USD `json:"byok_usage"`
			BYOKDaily    router.USD `json:"byok_usage_daily"`
			BYOKWeekly   router.USD `json:"byok_usage_weekly"`
			BYOKMonthly  router.USD `json:"byok_usage_monthly"`
		} `json:"data"`
	}
	w := b.do(context.Background(), http.MethodGet, "/keys/"+h.KeyHash, "", h.management)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	d := got.Data
	for i, figures := range map[router.Interval][2]router.USD{
		router.Lifetime: {d.Usage, d.BYOK}, router.Monthly: {d.UsageMonthly, d.BYOKMonthly},
		router.Weekly: {d.UsageWeekly, d.BYOKWeekly}, router.Daily: {d.UsageDaily, d.BYOKDaily},
	} {
		line := router.OwnerKey.Line(h.Principal, i.Window(b.clock.now()))
		want := plus(b.ledger.booked[line], b.ledger.lost[line])
		require.Equal(t, [2]router.USD{want.Credit, want.BYOK()}, figures, line)
	}
}

// report compares what GET /activity shows when all days are over.
func (b *books) report(t *rapid.T) {
	b.clock.move(3 * 24 * time.Hour)
	for _, h := range []*holder{b.holders[0], b.holders[len(b.holders)-1]} {
		var got struct {
			Data []struct {
				Usage    router.USD `json:"usage"`
				BYOK     router.USD `json:"byok_usage_inference"`
				Requests int64      `json:"requests"`
			} `json:"data"`
		}
		w := b.do(context.Background(), http.MethodGet, "/activity", "", h.management)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		var sum router.Amount
		requests := int64(0)
		for _, row := range got.Data {
			sum = plus(sum, router.Amount{Credit: row.Usage, Total: row.Usage + row.BYOK})
			requests += row.Requests
		}
		line := router.OwnerAccount.Line(h.Principal, "ever")
		want := b.ledger.booked[line]
		if b.records {
			want = plus(want, b.ledger.lost[line])
		}
		require.Equal(t, want, sum)
		require.Equal(t, b.requests(line, h.Principal), requests)
	}
}

// In any history of calls, changes and failures, with concurrent calls and across
// midnight, activity, ledger, keys and accounts show the same money in every window.
// When all calls are over, only holds that a broken ledger would not close remain,
// and those end at their deadline. An answered call costs what its answer says, also
// if the ledger failed a few times.
func TestTheBooksOfAWholeServiceAgree(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, *rapid.T) store.Set{
		"memory": func(*testing.T, *rapid.T) store.Set { return memory.New() },
		"SQLite": inSQLite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			booksAgree(t, open)
		})
	}
}

// inSQLite returns stores for one history.
func inSQLite(t *testing.T, rt *rapid.T) store.Set {
	t.Helper()
	pool, err := sql.Open("sqlite", ":memory:")
	require.NoError(rt, err)
	pool.SetMaxOpenConns(1)
	rt.Cleanup(func() { assert.NoError(t, pool.Close()) })
	set, err := sqlite.New(t.Context(), pool, sqlite.Config{})
	require.NoError(rt, err)
	return set
}

func booksAgree(t *testing.T, open func(*testing.T, *rapid.T) store.Set) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // retries wait in fake time, and t has no deadline in here
		rapid.Check(struct{ *testing.T }{t}, history(t, open))
	})
}

func history(t *testing.T, open func(*testing.T, *rapid.T) store.Set) func(*rapid.T) {
	t.Helper()
	return func(rt *rapid.T) {
		<-time.After(time.Second) // rapid limits the time it shrinks a failure, so the fake clock must advance
		b := newBooks(rt, open(t, rt))
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if rapid.IntRange(0, 2).Draw(rt, "step") == 0 {
				b.change(rt)
			} else {
				b.calls(rt)
			}
			b.agree(rt)
		}
		_, err := b.ledger.Expire(context.Background(), b.clock.now().Add(48*time.Hour), 1000, router.ExpirePost)
		require.NoError(rt, err)
		for line, balance := range b.ledger.expected() {
			require.Zero(rt, balance.Held, line)
		}
		b.agree(rt)
		b.report(rt)
	}
}
