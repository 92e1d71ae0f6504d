package organization

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/router"
)

// wrong returns the mistakes in m, with path before the names of the members.
func (m Member) wrong(path string) issues {
	var wrong issues
	if m.ID == "" || len(m.ID) > maxID {
		wrong.add(path+"id", "must have 1 to %d bytes", maxID)
	}
	wrong.storable(path+"id", m.ID)
	if !strings.Contains(m.Email, "@") || len(m.Email) > 320 {
		wrong.add(path+"email", "must be an address")
	}
	wrong.storable(path+"email", m.Email)
	for i, name := range []string{m.FirstName, m.LastName} {
		at := path + [...]string{"first_name", "last_name"}[i]
		if utf8.RuneCountInString(name) > maxName {
			wrong.add(at, "must have at most %d characters", maxName)
		}
		wrong.storable(at, name)
	}
	if m.Role != RoleAdmin && m.Role != RoleMember {
		wrong.add(path+"role", "must be %s or %s", RoleAdmin, RoleMember)
	}
	return wrong
}

// AddMember adds a member to the actor's organization. A member with the same id is
// ErrExists. A personal account cannot have further members.
func (s *Service) AddMember(ctx context.Context, by router.Actor, m Member) (Member, error) {
	if err := refuse(m.wrong("")); err != nil {
		return Member{}, err
	}
	if err := s.takesMembers(ctx, by); err != nil {
		return Member{}, err
	}
	m.CreatedAt, m.Version = s.now(), 1
	change, err := s.change(by, "create", "member", m.ID, nil, m)
	if err != nil {
		return Member{}, err
	}
	if err := s.cfg.Store.AddMember(ctx, by.Principal.Account, m, change); err != nil {
		return Member{}, err
	}
	return m, nil
}

// UpdateMember replaces a member's address, names and role. The role holds in all
// workspaces.
func (s *Service) UpdateMember(ctx context.Context, by router.Actor, m Member) (Member, error) {
	if err := refuse(m.wrong("")); err != nil {
		return Member{}, err
	}
	err := retry(func() error {
		before, err := s.cfg.Store.Member(ctx, by.Principal.Account, m.ID)
		if err != nil {
			return err
		}
		m.CreatedAt, m.Version = before.CreatedAt, before.Version
		change, err := s.change(by, "update", "member", m.ID, before, m)
		if err != nil {
			return err
		}
		return s.cfg.Store.ReplaceMember(ctx, by.Principal.Account, m, change)
	})
	if err != nil {
		return Member{}, err
	}
	m.Version++
	return m, nil
}

// RemoveMember removes a member from the actor's organization and all its
// workspaces. A member who has created keys that still exist cannot be removed.
func (s *Service) RemoveMember(ctx context.Context, by router.Actor, id string) error {
	account := by.Principal.Account
	if err := s.takesMembers(ctx, by); err != nil {
		return err
	}
	m, err := s.cfg.Store.Member(ctx, account, id)
	if err != nil {
		return err
	}
	n, err := s.cfg.KeysOf(ctx, account, "", id)
	if err != nil {
		return err
	}
	if n > 0 {
		return invalid("id", "%s has created API keys that still exist", id)
	}
	change, err := s.change(by, "delete", "member", id, m, nil)
	if err != nil {
		return err
	}
	return s.cfg.Store.RemoveMember(ctx, account, id, change)
}

// takesMembers returns an error unless the actor's account is an organization.
func (s *Service) takesMembers(ctx context.Context, by router.Actor) error {
	a, err := s.cfg.Store.Account(ctx, by.Principal.Account)
	switch {
	case err != nil:
		return err
	case a.Personal:
		return invalid("account", "a personal account has one member, its owner")
	}
	return nil
}

// Members returns limit of an organization's members from offset on, the
// earliest first, and how many there are in all. A personal account is
// ErrNotFound.
func (s *Service) Members(ctx context.Context, account string, offset, limit int) ([]Member, int, error) {
	if _, err := s.organization(ctx, account); err != nil {
		return nil, 0, err
	}
	return s.cfg.Store.Members(ctx, account, offset, limit)
}

// Member returns a member of an account.
func (s *Service) Member(ctx context.Context, account, id string) (Member, error) {
	return s.cfg.Store.Member(ctx, account, id)
}

// IsMember reports whether a user is a member of an organization, or the owner of a
// personal account.
func (s *Service) IsMember(ctx context.Context, account, user string) (bool, error) {
	_, err := s.cfg.Store.Member(ctx, account, user)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
