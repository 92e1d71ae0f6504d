package guardrails_test

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/router"
)

// spend records a spending of the principal, at the time of the rig, on every line of a
// call.
func (r *rig) spend(t *testing.T, p router.Principal, amount router.USD) {
	t.Helper()
	h := router.Hold{ID: uuid.New(), Deadline: r.now}
	for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		for _, interval := range []router.Interval{router.Lifetime, router.Monthly, router.Weekly, router.Daily} {
			if line := owner.Line(p, interval.Window(r.now)); line != (router.Line{}) {
				h.Lines = append(h.Lines, line)
			}
		}
	}
	require.NoError(t, r.set.Ledger.Reserve(t.Context(), h))
	require.NoError(t, r.set.Ledger.Settle(t.Context(), h.ID, router.Amount{Credit: amount, Total: amount}))
}

// refusal returns the message of the error for a principal whose candidate may cost up to
// worst, or "" if the call is admitted.
func (r *rig) refusal(t *testing.T, p router.Principal, worst router.USD) string {
	t.Helper()
	call := &router.Call{Principal: p}
	require.NoError(t, passed(t, r.Service, call))
	if len(call.Budgets) == 0 {
		return ""
	}
	slices.SortStableFunc(call.Budgets, func(a, b router.Budget) int {
		return cmp.Or(cmp.Compare(a.Check.Order, b.Check.Order), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Interval, b.Interval))
	})
	h := router.Hold{ID: uuid.New(), Deadline: r.now, Amount: router.Amount{Credit: worst, Total: worst}}
	for _, b := range call.Budgets {
		line := b.Owner.Line(p, b.Interval.Window(r.now))
		require.NotZero(t, line)
		if !slices.Contains(h.Lines, line) {
			h.Lines = append(h.Lines, line)
		}
		h.Caps = append(h.Caps, router.Cap{Line: line, Max: b.Max, BYOK: b.BYOK})
	}
	err := r.set.Ledger.Reserve(t.Context(), h)
	if err == nil {
		require.NoError(t, r.set.Ledger.Void(t.Context(), h.ID))
		return ""
	}
	limit, ok := errors.AsType[*router.LimitError](err)
	require.True(t, ok, "%v", err)
	refusal := call.Budgets[limit.Cap].Refusal
	assert.Equal(t, router.PermissionDenied, refusal.Class)
	return refusal.Message
}

func budget(dollars router.USD, reset router.Interval) guardrails.Patch {
	return guardrails.Patch{Limit: router.To(new(dollars * router.Dollar)), Reset: router.To(reset)}
}

func TestBudgetCases(t *testing.T) {
	const cent = router.Dollar / 100
	keyOf := func(hash string) router.Principal {
		p := key(hash)
		p.Member = "ann"
		return p
	}
	t.Run("R86a", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceMember, budget(20, router.Daily))
		r.spend(t, keyOf("a"), 12*router.Dollar)
		r.spend(t, keyOf("b"), 799*cent)
		for _, hash := range []string{"a", "b"} {
			assert.Equal(t, "Guardrail daily budget of $20.00 exceeded", r.refusal(t, keyOf(hash), 2*cent))
			assert.Empty(t, r.refusal(t, keyOf(hash), cent))
		}
		assert.Empty(t, r.refusal(t, key("b"), router.Dollar), "a key without a creator has no member")
	})
	t.Run("R86b", func(t *testing.T) {
		r := newRig(t)
		g := r.put(t, router.SourceKey, budget(20, router.Daily))
		r.assign(t, g, guardrails.KeyKind, "b")
		r.spend(t, key("a"), 20*router.Dollar)
		r.spend(t, key("b"), 5*router.Dollar)
		assert.Equal(t, "Guardrail daily budget of $20.00 exceeded", r.refusal(t, key("a"), cent))
		assert.Empty(t, r.refusal(t, key("b"), cent))
	})
	t.Run("R86c", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceMember, budget(100, router.Daily))
		r.put(t, router.SourceKey, budget(30, router.Daily))
		r.spend(t, key("a"), 30*router.Dollar)
		assert.Equal(t, "Guardrail daily budget of $30.00 exceeded", r.refusal(t, key("a"), cent))
		assert.Empty(t, r.refusal(t, keyOf("b"), cent))
	})
	t.Run("R86d", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceWorkspace, budget(50, router.Monthly))
		r.spend(t, key("b"), 49*router.Dollar)
		r.spend(t, key("a"), router.Dollar)
		for _, hash := range []string{"a", "b", "c"} {
			assert.Equal(t, "Guardrail monthly budget of $50.00 exceeded", r.refusal(t, key(hash), cent))
		}
	})
	t.Run("R86e", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceKey, budget(9, router.Daily))
		r.spend(t, key("a"), 9*router.Dollar)
		r.put(t, router.SourceKey, budget(10, router.Daily))
		assert.NotEmpty(t, r.refusal(t, key("a"), 101*cent), "it looks at what was spent before the assignment, too")
		assert.Empty(t, r.refusal(t, key("a"), 100*cent))
	})
	t.Run("R86f", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceKey, budget(5, router.Lifetime))
		r.spend(t, key("a"), 5*router.Dollar)
		r.now = r.now.AddDate(1, 0, 0)
		assert.Equal(t, "Guardrail lifetime budget of $5.00 exceeded", r.refusal(t, key("a"), cent))
	})
	t.Run("R86g", func(t *testing.T) {
		r := newRig(t)
		r.put(t, router.SourceKey, budget(1, router.Lifetime))
		r.spend(t, key("a"), 5*router.Dollar)
		assert.Equal(t, "Guardrail lifetime budget of $1.00 exceeded", r.refusal(t, key("a"), cent))
		r.put(t, router.SourceMember, budget(2, router.Daily))
		assert.Equal(t, "Guardrail daily budget of $2.00 exceeded", r.refusal(t, key("a"), cent))
		r.put(t, router.SourceWorkspace, budget(3, router.Weekly))
		assert.Equal(t, "Guardrail weekly budget of $3.00 exceeded", r.refusal(t, key("a"), cent))
	})
}
