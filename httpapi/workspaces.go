package httpapi

import (
	"context"
	"net/http"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// workspaceObject is a workspace. The last seven members never change; clients in the
// field require them.
type workspaceObject struct {
	ID               string  `json:"id"`
	Name             string  `json:"name"`
	Slug             string  `json:"slug"`
	Description      *string `json:"description"`
	CreatedAt        *string `json:"created_at"`
	UpdatedAt        *string `json:"updated_at"`
	CreatedBy        *string `json:"created_by"`
	DefaultGuardrail string  `json:"default_guardrail_id"`
	DefaultSort      *string `json:"default_provider_sort"`
	IncludeBYOK      bool    `json:"include_byok_in_budgets"`

	TextModel       *string `json:"default_text_model"`
	ImageModel      *string `json:"default_image_model"`
	LoggingKeys     []int   `json:"io_logging_api_key_ids"`
	LoggingRate     int     `json:"io_logging_sampling_rate"`
	DiscountLogging bool    `json:"is_data_discount_logging_enabled"`
	Broadcast       bool    `json:"is_observability_broadcast_enabled"`
	IOLogging       bool    `json:"is_observability_io_logging_enabled"`
}

func describeWorkspace(w organization.Workspace) workspaceObject {
	return workspaceObject{
		ID: w.ID, Name: w.Name, Slug: w.Slug, Description: w.Description, CreatedAt: stamp(w.CreatedAt),
		UpdatedAt: stamp(w.UpdatedAt), CreatedBy: orNull(w.CreatedBy), DefaultGuardrail: w.DefaultGuardrail,
		DefaultSort: orNull(string(w.DefaultSort)), IncludeBYOK: w.IncludeBYOK,
	}
}

type membershipObject struct {
	ID        string  `json:"id"`
	User      string  `json:"user_id"`
	Workspace string  `json:"workspace_id"`
	Role      string  `json:"role"`
	CreatedAt *string `json:"created_at"`
}

func describeMemberships(memberships []organization.Membership) []membershipObject {
	list := make([]membershipObject, len(memberships))
	for i, m := range memberships {
		role := "member"
		if m.Role == organization.RoleAdmin {
			role = "admin"
		}
		list[i] = membershipObject{m.ID, m.User, m.Workspace, role, stamp(m.CreatedAt)}
	}
	return list
}

type addedMembers struct {
	Data  []membershipObject `json:"data"`
	Added int                `json:"added_count"`
}

type removedMembers struct {
	Removed int `json:"removed_count"`
}

// workspaceRef returns the id or slug in the path, an id in lower case. For text that
// no store can look up it returns "", which no workspace has.
func (x *exchange) workspaceRef() string {
	ref := x.r.PathValue("id")
	if id, ok := uuidOf(ref); ok {
		return id
	}
	if !router.Storable(ref) {
		return ""
	}
	return ref
}

// listWorkspaces serves GET /workspaces.
func (x *exchange) listWorkspaces(ctx context.Context) error {
	query := x.parameters()
	p := query.listPage()
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, wholePage, func(ctx context.Context, at page) ([]workspaceObject, int, error) {
		list, total, err := x.s.Organization.Workspaces(ctx, x.principal.Account, at.offset, at.limit)
		return describeAll(list, describeWorkspace), total, err
	})
}

// workspaceUpdate reads the members that POST and PATCH share.
func workspaceUpdate(o object) organization.WorkspaceUpdate {
	u := organization.WorkspaceUpdate{
		Name: o.text("name", 1, 100), Slug: o.text("slug", 1, 50), Description: o.nullText("description", 0, 500),
	}
	if _, given := o.value("default_provider_sort"); given {
		sort := o.word("default_provider_sort", "price", "throughput", "latency", "exacto")
		u.DefaultSort = router.Update[systemone.SortBy]{Set: sort.Set, To: systemone.SortBy(sort.To)}
	} else {
		u.DefaultSort.Set = o.has("default_provider_sort")
	}
	o.refuseUnsupported()
	return u
}

// createWorkspace serves POST /workspaces.
func (x *exchange) createWorkspace(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	o.require("name", "slug")
	u := workspaceUpdate(o)
	if err := o.err(); err != nil {
		return o.with(u.Check())
	}
	w, err := x.s.Organization.CreateWorkspace(ctx, x.actor(), organization.NewWorkspace{
		Name: u.Name.To, Slug: u.Slug.To, Description: u.Description.To, DefaultSort: u.DefaultSort.To,
	})
	if err != nil {
		return err
	}
	x.reply(http.StatusCreated, data{describeWorkspace(w)})
	return nil
}

// getWorkspace serves GET /workspaces/{id}.
func (x *exchange) getWorkspace(ctx context.Context) error {
	w, err := x.s.Organization.Workspace(ctx, x.principal.Account, x.workspaceRef())
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeWorkspace(w)})
	return nil
}

// updateWorkspace serves PATCH /workspaces/{id}.
func (x *exchange) updateWorkspace(ctx context.Context) error {
	o, err := x.object()
	if err != nil {
		return err
	}
	u := workspaceUpdate(o)
	switch err := o.err(); {
	case err != nil:
		return o.with(u.Check())
	case !o.has("name", "slug", "description", "default_provider_sort"):
		return errNoUpdate
	}
	w, err := x.s.Organization.UpdateWorkspace(ctx, x.actor(), x.workspaceRef(), u)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, data{describeWorkspace(w)})
	return nil
}

// deleteWorkspace serves DELETE /workspaces/{id}.
func (x *exchange) deleteWorkspace(ctx context.Context) error {
	if err := x.s.Organization.DeleteWorkspace(ctx, x.actor(), x.workspaceRef()); err != nil {
		return err
	}
	x.reply(http.StatusOK, deleted{true})
	return nil
}

// listWorkspaceMembers serves GET /workspaces/{id}/members.
func (x *exchange) listWorkspaceMembers(ctx context.Context) error {
	query := x.parameters()
	p := query.listPage()
	if err := query.err(); err != nil {
		return err
	}
	return replyList(ctx, x, p, wholePage, func(ctx context.Context, at page) ([]membershipObject, int, error) {
		list, total, err := x.s.Organization.Memberships(ctx, x.principal.Account, x.workspaceRef(), at.offset, at.limit)
		return describeMemberships(list), total, err
	})
}

// users reads the body of the two bulk requests.
func (x *exchange) users() ([]string, error) {
	o, err := x.object()
	if err != nil {
		return nil, err
	}
	o.require("user_ids")
	o.given("user_ids")
	users := o.texts("user_ids", 1, 100)
	return users.To, o.err()
}

// addWorkspaceMembers serves POST /workspaces/{id}/members/add.
func (x *exchange) addWorkspaceMembers(ctx context.Context) error {
	users, err := x.users()
	if err != nil {
		return err
	}
	list, added, err := x.s.Organization.AddToWorkspace(ctx, x.actor(), x.workspaceRef(), users)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, addedMembers{describeMemberships(list), added})
	return nil
}

// removeWorkspaceMembers serves POST /workspaces/{id}/members/remove.
func (x *exchange) removeWorkspaceMembers(ctx context.Context) error {
	users, err := x.users()
	if err != nil {
		return err
	}
	removed, err := x.s.Organization.RemoveFromWorkspace(ctx, x.actor(), x.workspaceRef(), users)
	if err != nil {
		return err
	}
	x.reply(http.StatusOK, removedMembers{removed})
	return nil
}
