package httpapi

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// organizationRoutes are the routes of accounts, workspaces, budgets and credits.
func (s *server) organizationRoutes() []route {
	if s.Organization == nil {
		return nil
	}
	const (
		workspace = "/workspaces/{id}"
		budget    = workspace + "/budgets/{interval}"
	)
	return []route{
		{method: get, path: "/organization/settings", keys: management, serve: (*exchange).getSettings},
		{method: patch, path: "/organization/settings", keys: management, serve: (*exchange).updateSettings},
		{method: get, path: "/organization/members", keys: management, serve: (*exchange).listMembers},
		{method: get, path: "/credits", keys: management, serve: (*exchange).getCredits},
		{method: get, path: "/workspaces", keys: management, serve: (*exchange).listWorkspaces},
		{method: post, path: "/workspaces", keys: management, serve: (*exchange).createWorkspace},
		{method: get, path: workspace, keys: management, serve: (*exchange).getWorkspace},
		{method: patch, path: workspace, keys: management, serve: (*exchange).updateWorkspace},
		{method: remove, path: workspace, keys: management, serve: (*exchange).deleteWorkspace},
		{method: get, path: workspace + "/members", keys: management, serve: (*exchange).listWorkspaceMembers},
		{method: post, path: workspace + "/members/add", keys: management, serve: (*exchange).addWorkspaceMembers},
		{method: post, path: workspace + "/members/remove", keys: management, serve: (*exchange).removeWorkspaceMembers},
		{method: get, path: workspace + "/budgets", keys: management, serve: (*exchange).listBudgets},
		{method: get, path: budget, keys: management, serve: (*exchange).getBudget},
		{method: put, path: budget, keys: management, serve: (*exchange).putBudget},
		{method: remove, path: budget, keys: management, serve: (*exchange).deleteBudget},
	}
}

type settingsObject struct {
	FilteredCatalog bool `json:"is_filtered_model_catalog_enabled"`
}

type memberObject struct {
	ID        string            `json:"id"`
	Email     string            `json:"email"`
	FirstName *string           `json:"first_name"`
	LastName  *string           `json:"last_name"`
	Role      organization.Role `json:"role"`
}

// creditsObject is the money of an account. Clients in the field show the difference
// between the two figures as the remaining credits.
type creditsObject struct {
	Total   router.USD `json:"total_credits"`
	Used    router.USD `json:"total_usage"`
	Prepaid bool       `json:"is_prepaid"`
}

// unlimitedCredits is the total of an account that is not prepaid: the largest amount
// of the interface. Clients need a number there, and a number below the usage would
// read as no credits left.
const unlimitedCredits = 9_000_000_000 * router.Dollar

// getSettings serves GET /organization/settings.
func (x *exchange) getSettings(ctx context.Context) error {
	return x.replySettings(x.s.Organization.Settings(ctx, x.principal.Account))
}

// updateSettings serves PATCH /organization/settings.
func (x *exchange) updateSettings(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	on := o.boolean("is_filtered_model_catalog_enabled")
	o.refuseUnsupported()
	switch err := o.err(); {
	case err != nil:
		return err
	case !on.Set:
		return errNoUpdate
	}
	return x.replySettings(x.s.Organization.SetFilteredCatalog(ctx, x.actor(), on.To))
}

func (x *exchange) replySettings(settings organization.Settings, err error) error {
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{settingsObject{settings.FilteredCatalog}})
	return nil
}

// listMembers serves GET /organization/members.
func (x *exchange) listMembers(ctx context.Context) error {
	query := x.parameters()
	p := query.listPage()
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, wholePage, func(ctx context.Context, at page) ([]memberObject, int, error) {
		list, total, err := x.s.Organization.Members(ctx, x.principal.Account, at.offset, at.limit)
		return describeAll(list, describeMember), total, err
	})
}

func describeMember(m organization.Member) memberObject {
	return memberObject{m.ID, m.Email, orNull(m.FirstName), orNull(m.LastName), m.Role}
}

// getCredits serves GET /credits.
func (x *exchange) getCredits(ctx context.Context) error {
	c, err := x.s.Organization.Credits(ctx, x.principal.Account)
	if err != nil {
		return err
	}
	if !c.Prepaid {
		c.Total = unlimitedCredits
	}
	x.reply(http.StatusOK, data{creditsObject{c.Total, c.Used, c.Prepaid}})
	return nil
}
