package stack

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// The people and places that [Stack.Seed] makes.
const (
	Account     = "demo"
	Admin       = "user_ada"
	Member      = "user_ben"
	accountName = "Demo"
)

// Seeded is what a new stack begins with.
type Seeded struct {
	Home, Lab             organization.Workspace // the default workspace and another one
	Management, Inference router.Secret          // shown once: nobody stores them
}

// Seed makes an organization of two members, Ada, an admin, and Ben, with two
// workspaces, a management key of Ada's and an inference key in the default
// workspace. It is for stores that are empty and nobody else's; see
// [Stack.Begin] for others.
func (s *Stack) Seed(ctx context.Context) (Seeded, error) {
	if err := s.seedAccount(ctx, accountName); err != nil {
		return Seeded{}, err
	}
	return s.seedRest(ctx)
}

func seeder() router.Actor {
	return router.Actor{Principal: router.Principal{Account: Account}}
}

func (s *Stack) seedAccount(ctx context.Context, name string) error {
	_, err := s.Organization.CreateAccount(ctx, seeder(), organization.NewAccount{
		ID: Account, Name: name,
		Owner: organization.Member{ID: Admin, Email: "ada@example.org", FirstName: "Ada", LastName: "Admin"},
	})
	return err
}

// seedRest makes what belongs to the account. What is there already stays; keys
// are always new.
func (s *Stack) seedRest(ctx context.Context) (seeded Seeded, err error) {
	by := seeder()
	if _, err = s.Organization.AddMember(ctx, by, organization.Member{
		ID: Member, Email: "ben@example.org", FirstName: "Ben", LastName: "Builder", Role: organization.RoleMember,
	}); err != nil && !errors.Is(err, organization.ErrExists) {
		return seeded, err
	}
	if seeded.Home, err = s.Organization.Workspace(ctx, Account, "default"); err != nil {
		return seeded, err
	}
	if seeded.Lab, err = s.Organization.Workspace(ctx, Account, "lab"); errors.Is(err, organization.ErrNotFound) {
		seeded.Lab, err = s.Organization.CreateWorkspace(ctx, by, organization.NewWorkspace{Name: "Lab", Slug: "lab"})
	}
	if err != nil {
		return seeded, err
	}
	if _, seeded.Management, err = s.Keys.Create(ctx, by, keys.Key{Name: "management", Creator: Admin, Management: true}); err != nil {
		return seeded, err
	}
	_, seeded.Inference, err = s.Keys.Create(ctx, by, keys.Key{Name: "inference", Creator: Admin})
	return seeded, err
}
