package httpapi

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

type budgetObject struct {
	ID        string     `json:"id"`
	Workspace string     `json:"workspace_id"`
	Limit     router.USD `json:"limit_usd"`
	Interval  *string    `json:"reset_interval"`
	CreatedAt *string    `json:"created_at"`
	UpdatedAt *string    `json:"updated_at"`
}

// budgetReply is a budget or a list of budgets, with the members that both replies
// share.
type budgetReply struct {
	Data        any  `json:"data"`
	IncludeBYOK bool `json:"include_byok_in_budgets"`
}

func describeBudget(w organization.Workspace, b organization.Budget) budgetObject {
	return budgetObject{b.ID, w.ID, b.Limit, resetWord(b.Interval), stamp(b.CreatedAt), stamp(b.UpdatedAt)}
}

// listBudgets serves GET /workspaces/{id}/budgets.
func (x *exchange) listBudgets(ctx context.Context) error {
	w, err := x.s.Organization.Workspace(ctx, x.principal.Account, x.workspaceRef())
	if err != nil {
		return err
	}
	list := make([]budgetObject, len(w.Budgets))
	for i, b := range w.Budgets {
		list[i] = describeBudget(w, b)
	}
	x.reply(http.StatusOK, budgetReply{list, w.IncludeBYOK})
	return nil
}

// interval returns the interval at the end of a budget's path. Any other word is
// answered with 404.
func (x *exchange) interval() (router.Interval, error) {
	i, ok := router.ParseInterval(x.r.PathValue("interval"))
	if !ok {
		return 0, errNotFound
	}
	return i, nil
}

// getBudget serves GET /workspaces/{id}/budgets/{interval}.
func (x *exchange) getBudget(ctx context.Context) error {
	i, err := x.interval()
	if err != nil {
		return err
	}
	w, err := x.s.Organization.Workspace(ctx, x.principal.Account, x.workspaceRef())
	if err != nil {
		return err
	}
	return x.replyBudget(w, i)
}

func (x *exchange) replyBudget(w organization.Workspace, i router.Interval) error {
	b, isSet := w.Budget(i)
	if !isSet {
		return errNotFound
	}
	x.reply(http.StatusOK, budgetReply{describeBudget(w, b), w.IncludeBYOK})
	return nil
}

// putBudget serves PUT /workspaces/{id}/budgets/{interval}.
func (x *exchange) putBudget(ctx context.Context) error {
	i, err := x.interval()
	if err != nil {
		return err
	}
	o, err := x.object()
	if err != nil {
		return err
	}
	o.require("limit_usd")
	o.given("limit_usd")
	limit, byok := o.amount("limit_usd"), o.boolean("include_byok_in_budgets")
	if err := o.err(); err != nil {
		return err
	}
	w, err := x.s.Organization.SetBudget(ctx, x.actor(), x.workspaceRef(), i, *limit.To, byok)
	if err != nil {
		return err
	}
	return x.replyBudget(w, i)
}

// deleteBudget serves DELETE /workspaces/{id}/budgets/{interval}.
func (x *exchange) deleteBudget(ctx context.Context) error {
	i, err := x.interval()
	if err != nil {
		return err
	}
	if err := x.s.Organization.DeleteBudget(ctx, x.actor(), x.workspaceRef(), i); err != nil {
		return err
	}
	x.reply(http.StatusOK, deleted{true})
	return nil
}
