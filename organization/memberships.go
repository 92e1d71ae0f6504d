package organization

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// maxUsers is how many users one request adds or removes.
const maxUsers = 100

// Memberships returns limit of a workspace's members from offset on, the
// earliest first, and how many there are in all. Every member of the account is
// in its default workspace.
func (s *Service) Memberships(ctx context.Context, account, ref string, offset, limit int) ([]Membership, int, error) {
	w, isDefault, err := s.place(ctx, account, ref)
	if err != nil {
		return nil, 0, err
	}
	if !isDefault {
		return s.cfg.Store.Memberships(ctx, account, w.ID, offset, limit)
	}
	members, total, err := s.cfg.Store.Members(ctx, account, offset, limit)
	list := make([]Membership, len(members))
	for i, m := range members {
		list[i] = membershipOf(w.ID, m)
	}
	return list, total, err
}

func membershipOf(workspace string, m Member) Membership {
	return Membership{
		ID: membershipID(workspace, m.ID), User: m.ID, Workspace: workspace, Role: m.Role, CreatedAt: m.CreatedAt,
	}
}

// place returns a workspace and whether it is the account's default one.
func (s *Service) place(ctx context.Context, account, ref string) (Workspace, bool, error) {
	w, err := s.cfg.Store.Workspace(ctx, account, ref)
	if err != nil {
		return Workspace{}, false, err
	}
	a, err := s.cfg.Store.Account(ctx, account)
	return w, w.ID == a.DefaultWorkspace, err
}

// AddToWorkspace adds members of the actor's account to a workspace. It returns their
// memberships in the order given, each once, and how many of them are new.
func (s *Service) AddToWorkspace(ctx context.Context, by router.Actor, ref string, users []string) ([]Membership, int, error) {
	account := by.Principal.Account
	w, isDefault, err := s.place(ctx, account, ref)
	if err != nil {
		return nil, 0, err
	}
	list, err := s.newMemberships(ctx, account, w.ID, users)
	if err != nil || isDefault {
		return list, 0, err
	}
	for i := range list {
		list[i].CreatedAt = s.now()
	}
	change, err := s.change(by, "add_members", "workspace", w.ID, nil, userList(list))
	if err != nil {
		return nil, 0, err
	}
	added, err := s.cfg.Store.AddToWorkspace(ctx, account, w.ID, list, change)
	if err != nil {
		return nil, 0, err
	}
	if added == len(list) {
		return list, added, nil
	}
	return s.storedMemberships(ctx, account, w.ID, list, added)
}

// newMemberships returns one membership for each user. A user who is not a member of
// the account is a mistake.
func (s *Service) newMemberships(ctx context.Context, account, workspace string, users []string) ([]Membership, error) {
	var wrong issues
	checkUsers(&wrong, users)
	if err := refuse(wrong); err != nil {
		return nil, err
	}
	list := make([]Membership, 0, len(users))
	for i, user := range users {
		if slices.Contains(users[:i], user) {
			continue
		}
		m, err := s.cfg.Store.Member(ctx, account, user)
		switch {
		case errors.Is(err, ErrNotFound):
			wrong.add(fmt.Sprintf("user_ids.%d", i), "is not a member of the account")
		case err != nil:
			return nil, err
		default:
			list = append(list, membershipOf(workspace, m))
		}
	}
	return list, refuse(wrong)
}

// storedMemberships replaces memberships that existed before by the stored ones.
func (s *Service) storedMemberships(
	ctx context.Context, account, workspace string, list []Membership, added int,
) ([]Membership, int, error) {
	stored, _, err := s.cfg.Store.Memberships(ctx, account, workspace, 0, 0)
	if err != nil {
		return nil, 0, err
	}
	byUser := make(map[string]Membership, len(stored))
	for _, m := range stored {
		byUser[m.User] = m
	}
	for i, m := range list {
		if was, ok := byUser[m.User]; ok {
			list[i] = was
		}
	}
	return list, added, nil
}

// RemoveFromWorkspace removes members from a workspace of the actor's account
// and returns how many of them were in it. A member who has created keys there cannot
// be removed; then none is. Members of the default workspace cannot be removed.
func (s *Service) RemoveFromWorkspace(ctx context.Context, by router.Actor, ref string, users []string) (int, error) {
	account := by.Principal.Account
	w, isDefault, err := s.place(ctx, account, ref)
	if err != nil {
		return 0, err
	}
	var wrong issues
	checkUsers(&wrong, users)
	if isDefault {
		wrong.add("id", "every member of the account is in its default workspace")
	}
	if err := refuse(wrong); err != nil {
		return 0, err
	}
	for i, user := range users {
		n, err := s.cfg.KeysOf(ctx, account, w.ID, user)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			wrong.add(fmt.Sprintf("user_ids.%d", i), "has created API keys in the workspace")
		}
	}
	if err := refuse(wrong); err != nil {
		return 0, err
	}
	change, err := s.change(by, "remove_members", "workspace", w.ID, map[string][]string{"Users": users}, nil)
	if err != nil {
		return 0, err
	}
	return s.cfg.Store.RemoveFromWorkspace(ctx, account, w.ID, users, change)
}

func checkUsers(wrong *issues, users []string) {
	if len(users) < 1 || len(users) > maxUsers {
		wrong.add("user_ids", "must have 1 to %d entries", maxUsers)
		return
	}
	for i, user := range users {
		path := fmt.Sprintf("user_ids.%d", i)
		if user == "" || len(user) > maxID {
			wrong.add(path, "must have 1 to %d bytes", maxID)
		}
		wrong.storable(path, user)
	}
}

func userList(list []Membership) map[string][]string {
	users := make([]string, len(list))
	for i, m := range list {
		users[i] = m.User
	}
	return map[string][]string{"Users": users}
}
