package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

func newWorkspaceRows(w organization.Workspace) *workspaceRows {
	return &workspaceRows{workspace: copyWorkspace(w), members: map[string]organization.Membership{}}
}

func (s *organizationStore) CreateWorkspace(ctx context.Context, w organization.Workspace, change router.Change) error {
	return s.change(ctx, w.Account, change, func(rows *accountRows) error {
		if _, taken := rows.workspaces[w.ID]; taken || rows.hasSlug(w) {
			return organization.ErrExists
		}
		rows.workspaces[w.ID] = newWorkspaceRows(w)
		return nil
	})
}

// hasSlug reports whether another workspace has w's slug.
func (r *accountRows) hasSlug(w organization.Workspace) bool {
	for id, other := range r.workspaces {
		if id != w.ID && other.workspace.Slug == w.Slug {
			return true
		}
	}
	return false
}

func (s *organizationStore) Workspace(ctx context.Context, account, ref string) (w organization.Workspace, err error) {
	err = s.read(ctx, account, func(rows *accountRows) error {
		if row, ok := rows.workspaces[ref]; ok {
			w = copyWorkspace(row.workspace)
			return nil
		}
		for _, row := range rows.workspaces {
			if row.workspace.Slug == ref {
				w = copyWorkspace(row.workspace)
				return nil
			}
		}
		return organization.ErrNotFound
	})
	return w, err
}

func (s *organizationStore) Workspaces(
	ctx context.Context, account string, offset, limit int,
) (list []organization.Workspace, total int, err error) {
	err = s.read(ctx, account, func(rows *accountRows) error {
		all := make([]organization.Workspace, 0, len(rows.workspaces))
		for _, row := range rows.workspaces {
			all = append(all, copyWorkspace(row.workspace))
		}
		slices.SortFunc(all, func(a, b organization.Workspace) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		list, total = pageOf(all, offset, limit)
		return nil
	})
	return list, total, err
}

func (s *organizationStore) ReplaceWorkspace(ctx context.Context, w organization.Workspace, change router.Change) error {
	return s.change(ctx, w.Account, change, func(rows *accountRows) error {
		row, err := get(rows.workspaces, w.ID)
		switch {
		case err != nil:
			return err
		case w.Version != row.workspace.Version:
			return organization.ErrConflict
		case rows.hasSlug(w):
			return organization.ErrExists
		}
		w.Version++
		row.workspace = copyWorkspace(w)
		s.raise(router.OwnerWorkspace, router.Principal{Workspace: w.ID}, w.Version)
		return nil
	})
}

func (s *organizationStore) DeleteWorkspace(ctx context.Context, account, id string, change router.Change) error {
	return s.change(ctx, account, change, func(rows *accountRows) error {
		row, err := get(rows.workspaces, id)
		if err != nil {
			return err
		}
		delete(rows.workspaces, id)
		s.raise(router.OwnerWorkspace, router.Principal{Workspace: id}, row.workspace.Version+1)
		return nil
	})
}

func (s *organizationStore) AddToWorkspace(
	ctx context.Context, account, workspace string, list []organization.Membership, change router.Change,
) (added int, err error) {
	err = s.change(ctx, account, change, func(rows *accountRows) error {
		row, err := get(rows.workspaces, workspace)
		if err != nil {
			return err
		}
		members := maps.Clone(row.members)
		for _, m := range list {
			if _, err := get(rows.members, m.User); err != nil {
				return err
			}
			if _, there := members[m.User]; !there {
				members[m.User] = m
				added++
			}
		}
		if added == 0 {
			return errNothing
		}
		row.members = members
		return nil
	})
	return settled(added, err)
}

func (s *organizationStore) RemoveFromWorkspace(
	ctx context.Context, account, workspace string, users []string, change router.Change,
) (removed int, err error) {
	err = s.change(ctx, account, change, func(rows *accountRows) error {
		row, err := get(rows.workspaces, workspace)
		if err != nil {
			return err
		}
		before := len(row.members)
		for _, user := range users {
			delete(row.members, user)
		}
		if removed = before - len(row.members); removed == 0 {
			return errNothing
		}
		return nil
	})
	return settled(removed, err)
}

func (s *organizationStore) Memberships(
	ctx context.Context, account, workspace string, offset, limit int,
) (list []organization.Membership, total int, err error) {
	err = s.read(ctx, account, func(rows *accountRows) error {
		row, err := get(rows.workspaces, workspace)
		if err != nil {
			return err
		}
		all := make([]organization.Membership, 0, len(row.members))
		for user, m := range row.members {
			m.Role = rows.members[user].Role
			all = append(all, m)
		}
		slices.SortFunc(all, func(a, b organization.Membership) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.User, b.User))
		})
		list, total = pageOf(all, offset, limit)
		return nil
	})
	return list, total, err
}

func copyWorkspace(w organization.Workspace) organization.Workspace {
	w.Budgets = slices.Clone(w.Budgets)
	if w.Description != nil {
		w.Description = new(*w.Description)
	}
	return w
}
