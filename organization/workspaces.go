package organization

import (
	"context"
	"errors"
	"regexp"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

var slugForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// NewWorkspace holds the settings of a new workspace.
type NewWorkspace struct {
	Name        string  // 1 to 100 characters
	Slug        string  // lower-case letters, digits and single dashes, 1 to 50
	Description *string // at most 500 characters
	DefaultSort systemone.SortBy
}

// WorkspaceUpdate changes a workspace.
type WorkspaceUpdate struct {
	Name        router.Update[string]
	Slug        router.Update[string]
	Description router.Update[*string]
	DefaultSort router.Update[systemone.SortBy]
}

// CreateWorkspace adds a workspace to the actor's account.
func (s *Service) CreateWorkspace(ctx context.Context, by router.Actor, n NewWorkspace) (Workspace, error) {
	now := s.now()
	w := Workspace{
		ID: s.newID(), Account: by.Principal.Account, Slug: n.Slug, Name: n.Name, Description: clone(n.Description),
		CreatedBy: by.Principal.Member, DefaultGuardrail: s.newID(), DefaultSort: n.DefaultSort,
		CreatedAt: now, UpdatedAt: now, Version: 1,
	}
	if err := refuse(w.wrong()); err != nil {
		return Workspace{}, err
	}
	change, err := s.change(by, "create", "workspace", w.ID, nil, w)
	if err != nil {
		return Workspace{}, err
	}
	if err := s.cfg.Store.CreateWorkspace(ctx, w, change); err != nil {
		return Workspace{}, slugTaken(err, w.Slug)
	}
	s.forget(w.Account)
	return w, nil
}

// Workspace returns the workspace of an account with this id or slug.
func (s *Service) Workspace(ctx context.Context, account, ref string) (Workspace, error) {
	return s.cfg.Store.Workspace(ctx, account, ref)
}

// Workspaces returns limit of an account's workspaces from offset on, the earliest
// first, and how many there are in all. The default workspace is the earliest.
func (s *Service) Workspaces(ctx context.Context, account string, offset, limit int) ([]Workspace, int, error) {
	return s.cfg.Store.Workspaces(ctx, account, offset, limit)
}

// UpdateWorkspace changes a workspace of the actor's account, named by id or
// slug.
func (s *Service) UpdateWorkspace(ctx context.Context, by router.Actor, ref string, u WorkspaceUpdate) (Workspace, error) {
	return s.changeWorkspace(ctx, by, ref, func(w *Workspace) error {
		u.apply(w)
		w.UpdatedAt = s.now()
		return refuse(w.wrong())
	})
}

// Check returns the mistakes in what u sets, or nil. It does not check whether a slug
// is taken.
func (u WorkspaceUpdate) Check() error {
	w := Workspace{Name: "sound", Slug: "sound"} // what u does not set has no mistakes
	u.apply(&w)
	return refuse(w.wrong())
}

func (u WorkspaceUpdate) apply(w *Workspace) {
	set(&w.Name, u.Name)
	set(&w.Slug, u.Slug)
	set(&w.DefaultSort, u.DefaultSort)
	if u.Description.Set {
		w.Description = clone(u.Description.To)
	}
}

// changeWorkspace changes the workspace itself.
func (s *Service) changeWorkspace(ctx context.Context, by router.Actor, ref string, edit func(*Workspace) error) (Workspace, error) {
	return s.replaceWorkspace(ctx, by, "update", "workspace", ref, edit)
}

// replaceWorkspace reads, changes and replaces a workspace; action and kind are
// for the record.
func (s *Service) replaceWorkspace(
	ctx context.Context, by router.Actor, action, kind, ref string, edit func(*Workspace) error,
) (Workspace, error) {
	var w Workspace
	err := retry(func() error {
		before, err := s.cfg.Store.Workspace(ctx, by.Principal.Account, ref)
		if err != nil {
			return err
		}
		w = before
		if err := edit(&w); err != nil {
			return err
		}
		change, err := s.change(by, action, kind, w.ID, before, w)
		if err != nil {
			return err
		}
		err = s.cfg.Store.ReplaceWorkspace(ctx, w, change)
		s.forget(w.Account) // also after a failure, because the store may have made the change
		return slugTaken(err, w.Slug)
	})
	if err != nil {
		return Workspace{}, err
	}
	w.Version++
	return w, nil
}

// DeleteWorkspace deletes a workspace of the actor's account, named by id or slug, with
// its budgets and memberships. The default workspace and a workspace with keys are
// refused. If a key is made at the same time, either the deletion is refused or the
// key is deleted, too.
//
// After an error other than a refusal or ErrNotFound, parts of the workspace may be
// left. Repeat the deletion by id to remove them; it then returns ErrNotFound.
func (s *Service) DeleteWorkspace(ctx context.Context, by router.Actor, ref string) error {
	account := by.Principal.Account
	a, err := s.cfg.Store.Account(ctx, account)
	if err != nil {
		return err
	}
	w, err := s.cfg.Store.Workspace(ctx, account, ref)
	if errors.Is(err, ErrNotFound) && uuid.Validate(ref) == nil {
		if left := s.cfg.Deleted(ctx, by, ref); left != nil {
			return left
		}
	}
	if err != nil {
		return err
	}
	if w.ID == a.DefaultWorkspace {
		return invalid("id", "the default workspace cannot be deleted")
	}
	n, err := s.cfg.KeysIn(ctx, account, w.ID)
	if err != nil {
		return err
	}
	if n > 0 {
		return invalid("id", "the workspace still has API keys")
	}
	change, err := s.change(by, "delete", "workspace", w.ID, w, nil)
	if err != nil {
		return err
	}
	err = s.cfg.Store.DeleteWorkspace(ctx, account, w.ID, change)
	s.forget(account) // also after a failure, because the store may have made the change
	if err != nil {
		return err
	}
	return s.cfg.Deleted(ctx, by, w.ID)
}

// DefaultWorkspace returns the id of an account's default workspace.
func (s *Service) DefaultWorkspace(ctx context.Context, account string) (string, error) {
	st, err := s.standing(ctx, place{account: account})
	if err != nil {
		return "", err
	}
	return st.account.DefaultWorkspace, nil
}

// HasWorkspace reports whether an account has a workspace with this id. A slug does
// not count as an id.
func (s *Service) HasWorkspace(ctx context.Context, account, id string) (bool, error) {
	w, err := s.cfg.Store.Workspace(ctx, account, id)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && w.ID == id, err
}

// LiveWorkspaces returns the ids of all workspaces that an account has.
func (s *Service) LiveWorkspaces(ctx context.Context, account string) ([]string, error) {
	list, _, err := s.cfg.Store.Workspaces(ctx, account, 0, 0)
	ids := make([]string, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	return ids, err
}

// wrong returns the mistakes in w.
func (w Workspace) wrong() issues {
	var wrong issues
	checkName(&wrong, w.Name)
	switch _, err := uuid.Parse(w.Slug); {
	case len(w.Slug) > maxSlug || !slugForm.MatchString(w.Slug):
		wrong.add("slug", "must have 1 to %d lower-case letters, digits and single dashes between them", maxSlug)
	case err == nil:
		wrong.add("slug", "must not look like an id")
	}
	if w.Description != nil && utf8.RuneCountInString(*w.Description) > maxDescription {
		wrong.add("description", "must have at most %d characters", maxDescription)
	}
	if w.Description != nil {
		wrong.storable("description", *w.Description)
	}
	switch w.DefaultSort {
	case "", systemone.SortPrice, systemone.SortThroughput, systemone.SortLatency, systemone.SortExacto:
	default:
		wrong.add("default_provider_sort", "must be price, throughput, latency, exacto or null")
	}
	return wrong
}

// slugTaken turns an ErrExists of a workspace into a mistake of its slug.
func slugTaken(err error, slug string) error {
	if errors.Is(err, ErrExists) {
		return invalid("slug", "%s is the slug of another workspace", slug)
	}
	return err
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}
