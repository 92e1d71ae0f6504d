// Package demo fills a new service for tests with two people in two workspaces.
package demo

import (
	"bytes"
	"context"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// The account that [Seed] makes, and its members.
const (
	Account = "demo"
	Admin   = "user_ada"
	Member  = "user_ben"
)

// Seeded is what [Seed] makes.
type Seeded struct {
	Home, Lab             organization.Workspace // the default workspace and another one
	Management, Inference router.Secret
}

// Program returns the actor for changes that the embedding program makes.
func Program() router.Actor {
	return router.Actor{Principal: router.Principal{Account: Account}}
}

// SealingKeys returns fixed keys, so that several processes can share storage.
func SealingKeys() []router.Secret {
	return []router.Secret{router.Secret(bytes.Repeat([]byte{7}, 32))}
}

// Seed makes an organization with two members, Ada, an admin, and Ben, and with two
// workspaces. Ada gets a management key, and an inference key in the default workspace.
// The stores must be empty.
func Seed(ctx context.Context, s *signalbox.Service) (seeded Seeded, err error) {
	by := Program()
	if _, err = s.Organization.CreateAccount(ctx, by, organization.NewAccount{
		ID: Account, Name: "Demo",
		Owner: organization.Member{ID: Admin, Email: "ada@example.org", FirstName: "Ada", LastName: "Admin"},
	}); err != nil {
		return seeded, err
	}
	if _, err = s.Organization.AddMember(ctx, by, organization.Member{
		ID: Member, Email: "ben@example.org", FirstName: "Ben", LastName: "Builder", Role: organization.RoleMember,
	}); err != nil {
		return seeded, err
	}
	if seeded.Home, err = s.Organization.Workspace(ctx, Account, "default"); err != nil {
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
