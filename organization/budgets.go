package organization

import (
	"cmp"
	"context"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// maxAmount is the largest budget, and the largest sum of an account's payments.
const maxAmount = 9_000_000_000 * router.Dollar

// SetBudget sets what a workspace of the actor's account may spend in each period of
// an interval, and returns the workspace. A narrower interval must have a smaller
// limit. A limit below what is spent already is accepted, and the next call is
// refused. byok, where it is set, says for all budgets of the workspace whether they
// count calls with the caller's own provider credentials.
func (s *Service) SetBudget(
	ctx context.Context, by router.Actor, ref string, interval router.Interval, limit router.USD, byok router.Update[bool],
) (Workspace, error) {
	if limit <= 0 || limit > maxAmount {
		return Workspace{}, invalid("limit_usd", "must be above 0 and at most %s", maxAmount)
	}
	return s.replaceWorkspace(ctx, by, "set_budget", "workspace", ref, func(w *Workspace) error {
		now := s.now() // after w was read, so that no budget is changed before it was made
		b, isSet := w.Budget(interval)
		if !isSet {
			b = Budget{ID: s.newID(), Interval: interval, CreatedAt: now}
		}
		b.Limit, b.UpdatedAt = limit, now
		w.Budgets = append(without(w.Budgets, interval), b)
		slices.SortFunc(w.Budgets, func(a, b Budget) int { return cmp.Compare(a.Interval, b.Interval) })
		if byok.Set && byok.To != w.IncludeBYOK {
			w.IncludeBYOK, w.UpdatedAt = byok.To, now
		}
		return refuse(decreasing(w.Budgets, interval))
	})
}

// DeleteBudget removes a workspace's budget of an interval. Without such a budget it
// does nothing.
func (s *Service) DeleteBudget(ctx context.Context, by router.Actor, ref string, interval router.Interval) error {
	w, err := s.cfg.Store.Workspace(ctx, by.Principal.Account, ref)
	if err != nil {
		return err
	}
	if _, isSet := w.Budget(interval); !isSet {
		return nil
	}
	_, err = s.replaceWorkspace(ctx, by, "delete_budget", "workspace", ref, func(w *Workspace) error {
		w.Budgets = without(w.Budgets, interval)
		return nil
	})
	return err
}

// without returns a copy of the budgets without that of an interval.
func without(list []Budget, interval router.Interval) []Budget {
	return slices.DeleteFunc(slices.Clone(list), func(b Budget) bool { return b.Interval == interval })
}

// decreasing adds a mistake for each budget that the budget of an interval
// contradicts. The list is sorted by interval, the broadest first.
func decreasing(list []Budget, interval router.Interval) issues {
	var wrong issues
	for i, broad := range list {
		for _, narrow := range list[i+1:] {
			if narrow.Limit < broad.Limit || broad.Interval != interval && narrow.Interval != interval {
				continue
			}
			wrong.add("limit_usd", "Budget limits must be strictly decreasing as scope narrows: the %s limit (%s) must be greater than the %s limit (%s).",
				broad.Interval, broad.Limit.Dollars(), narrow.Interval, narrow.Limit.Dollars())
		}
	}
	return wrong
}
