package main

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// The account that a server begins with, and its members.
const (
	demoAccount = "demo"
	demoAdmin   = "user_ada"
	demoMember  = "user_ben"
	demoName    = "Demo"
)

// firstKeys is what a new server begins with.
type firstKeys struct {
	home, lab             organization.Workspace // the default workspace and another one
	management, inference router.Secret          // shown once, because only their hashes are stored
}

// seeder makes the first account and its keys.
type seeder struct {
	*signalbox.Service

	stores store.Set
	now    func() time.Time
}

// by is the program, which makes the account.
func (*seeder) by() router.Actor {
	return router.Actor{Principal: router.Principal{Account: demoAccount}}
}

func (s *seeder) account(ctx context.Context, name string) error {
	_, err := s.Organization.CreateAccount(ctx, s.by(), organization.NewAccount{
		ID: demoAccount, Name: name,
		Owner: organization.Member{ID: demoAdmin, Email: "ada@example.org", FirstName: "Ada", LastName: "Admin"},
	})
	return err
}

// rest fills the account: a second member, Ben, a second workspace, a management key
// of Ada's, and an inference key in the default workspace. A member or workspace that
// exists already is kept; keys are always new.
func (s *seeder) rest(ctx context.Context) (made firstKeys, err error) {
	by := s.by()
	if _, err = s.Organization.AddMember(ctx, by, organization.Member{
		ID: demoMember, Email: "ben@example.org", FirstName: "Ben", LastName: "Builder", Role: organization.RoleMember,
	}); err != nil && !errors.Is(err, organization.ErrExists) {
		return made, err
	}
	if made.home, err = s.Organization.Workspace(ctx, demoAccount, "default"); err != nil {
		return made, err
	}
	if made.lab, err = s.Organization.Workspace(ctx, demoAccount, "lab"); errors.Is(err, organization.ErrNotFound) {
		made.lab, err = s.Organization.CreateWorkspace(ctx, by, organization.NewWorkspace{Name: "Lab", Slug: "lab"})
	}
	if err != nil {
		return made, err
	}
	if _, made.management, err = s.Keys.Create(ctx, by, keys.Key{Name: "management", Creator: demoAdmin, Management: true}); err != nil {
		return made, err
	}
	_, made.inference, err = s.Keys.Create(ctx, by, keys.Key{Name: "inference", Creator: demoAdmin})
	return made, err
}
