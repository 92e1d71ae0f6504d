package organization_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

var errLost = errors.New("the connection was lost")

// deaf is a store that makes each change and then loses the reply.
type deaf struct{ organization.Store }

func (d deaf) ReplaceAccount(ctx context.Context, a organization.Account, c router.Change) error {
	return errors.Join(errLost, d.Store.ReplaceAccount(ctx, a, c))
}

func (d deaf) AddPayment(ctx context.Context, p organization.Payment, a organization.Account, c router.Change) error {
	return errors.Join(errLost, d.Store.AddPayment(ctx, p, a, c))
}

func (d deaf) ReplaceWorkspace(ctx context.Context, w organization.Workspace, c router.Change) error {
	return errors.Join(errLost, d.Store.ReplaceWorkspace(ctx, w, c))
}

func (d deaf) DeleteWorkspace(ctx context.Context, account, id string, c router.Change) error {
	return errors.Join(errLost, d.Store.DeleteWorkspace(ctx, account, id, c))
}

// A store that returns an error may have made the change.
func TestAChangeThatFailedIsLookedForAtOnce(t *testing.T) {
	b := newBench(t)
	s := b.service(t, deaf{b.set.Organization})
	lab, err := s.CreateWorkspace(t.Context(), b.by, organization.NewWorkspace{Name: "Lab", Slug: "lab"})
	require.NoError(t, err)
	p := router.Principal{Account: "acme", Workspace: lab.ID}
	standing := func() (*router.Call, error) { return call(t, s, p) }
	before, err := standing()
	require.NoError(t, err)
	require.Empty(t, before.Policy)
	require.Empty(t, before.Budgets)

	_, err = s.SetBudget(t.Context(), b.by, "lab", router.Daily, router.Dollar, router.Update[bool]{})
	require.ErrorIs(t, err, errLost)
	c, err := standing()
	require.NoError(t, err)
	assert.Len(t, c.Budgets, 1, "the workspace's")

	_, err = s.TopUp(t.Context(), b.by, "p", router.Dollar)
	require.ErrorIs(t, err, errLost)
	c, err = standing()
	require.NoError(t, err)
	assert.Len(t, c.Budgets, 2, "and the credits")

	_, err = s.UpdateAccount(t.Context(), b.by, organization.AccountUpdate{ZDR: router.To(true)})
	require.ErrorIs(t, err, errLost)
	c, err = standing()
	require.NoError(t, err)
	assert.Len(t, c.Policy, 1, "and the account's rule")

	require.ErrorIs(t, s.DeleteWorkspace(t.Context(), b.by, "lab"), errLost)
	_, err = standing()
	assert.Error(t, err, "and nobody is in the workspace any more")
}

// passed is a store in which another change always precedes, a minute after the clock
// was read.
type passed struct {
	organization.Store
	b    *bench
	once *bool
}

func (p passed) Workspace(ctx context.Context, account, ref string) (organization.Workspace, error) {
	if !*p.once {
		*p.once = true
		p.b.pass(time.Minute)
		if _, err := p.b.SetBudget(ctx, p.b.by, ref, router.Monthly, 2, router.Update[bool]{}); err != nil {
			return organization.Workspace{}, err
		}
	}
	return p.Store.Workspace(ctx, account, ref)
}

func TestABudgetIsNotChangedBeforeItWasMade(t *testing.T) {
	b := newBench(t)
	s := b.service(t, passed{b.set.Organization, b, new(bool)})
	w, err := s.SetBudget(t.Context(), b.by, "default", router.Monthly, 3, router.Update[bool]{})
	require.NoError(t, err)
	budget, _ := w.Budget(router.Monthly)
	assert.Equal(t, noon.Add(time.Minute), budget.CreatedAt)
	assert.Equal(t, budget.CreatedAt, budget.UpdatedAt)
}
