package stack

import (
	"context"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// The people and places that [Stack.Seed] makes.
const (
	Account = "demo"
	Admin   = "user_ada"
	Member  = "user_ben"
)

// Seeded is what a new stack begins with.
type Seeded struct {
	Home, Lab             organization.Workspace // the default workspace and another one
	Management, Inference router.Secret          // shown once: nobody stores them
}

// Seed makes an organization of two members, Ada, an admin, and Ben, with two
// workspaces, a management key of Ada's and an inference key in the default
// workspace.
func (s *Stack) Seed(ctx context.Context) (Seeded, error) {
	var seeded Seeded
	by := router.Actor{Principal: router.Principal{Account: Account}}
	account, err := s.Organization.CreateAccount(ctx, by, organization.NewAccount{
		ID: Account, Name: "Demo",
		Owner: organization.Member{ID: Admin, Email: "ada@example.org", FirstName: "Ada", LastName: "Admin"},
	})
	if err != nil {
		return seeded, err
	}
	if _, err = s.Organization.AddMember(ctx, by, organization.Member{
		ID: Member, Email: "ben@example.org", FirstName: "Ben", LastName: "Builder", Role: organization.RoleMember,
	}); err != nil {
		return seeded, err
	}
	if seeded.Home, err = s.Organization.Workspace(ctx, Account, account.DefaultWorkspace); err != nil {
		return seeded, err
	}
	if seeded.Lab, err = s.Organization.CreateWorkspace(ctx, by, organization.NewWorkspace{Name: "Lab", Slug: "lab"}); err != nil {
		return seeded, err
	}
	if _, seeded.Management, err = s.Keys.Create(ctx, by, keys.Key{Name: "management", Creator: Admin, Management: true}); err != nil {
		return seeded, err
	}
	_, seeded.Inference, err = s.Keys.Create(ctx, by, keys.Key{Name: "inference", Creator: Admin})
	return seeded, err
}
