package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

// services makes the parts and tells each what it needs to know of the others:
// they do not know each other.
func (s *Stack) services(cfg Config) (err error) {
	if s.Organization, err = organization.New(organization.Config{
		Store:   cfg.Stores.Organization,
		Audit:   cfg.Stores.Audit,
		Ledger:  cfg.Stores.Ledger,
		KeysIn:  cfg.Stores.Keys.CountIn,
		KeysOf:  cfg.Stores.Keys.CountOf,
		Deleted: s.clear,
		Now:     cfg.Now,
	}); err != nil {
		return err
	}
	d := directory{s.Organization}
	if s.Keys, err = keys.New(keys.Config{
		Store: cfg.Stores.Keys, Ledger: cfg.Stores.Ledger, Directory: d, Rates: cfg.Rates, Now: cfg.Now,
	}); err != nil {
		return err
	}
	if s.Credentials, err = keys.NewCredentials(keys.CredentialsConfig{
		Store:       cfg.Stores.Credentials,
		SealingKeys: []keys.SealingKey{{ID: fingerprint(cfg.SealingKey), Key: router.Secret(cfg.SealingKey)}},
		Provider: func(slug string) bool {
			p := s.Router.Catalog().Provider(slug)
			return p != nil && !p.NoOwnCredentials
		},
		Model: s.hasModel,
		Workspace: func(ctx context.Context, account, id string) (string, error) {
			return d.workspace(ctx, account, id, keys.ErrNoCredential)
		},
		OwnsKey: s.ownsKey,
		Now:     cfg.Now,
	}); err != nil {
		return err
	}
	if s.Presets, err = presets.New(presets.Config{
		Store: cfg.Stores.Presets,
		Workspace: func(ctx context.Context, account, id string) (string, error) {
			return d.workspace(ctx, account, id, presets.ErrNotFound)
		},
		Now: cfg.Now,
	}); err != nil {
		return err
	}
	if s.Guardrails, err = guardrails.New(guardrails.Config{
		Store: cfg.Stores.Guardrails,
		Workspace: func(ctx context.Context, account, id string) (string, error) {
			return d.workspace(ctx, account, id, guardrails.ErrNotFound)
		},
		DefaultOf: d.defaultOf,
		Key:       s.keyOf,
		IsMember:  d.IsMember,
		Model:     s.hasModel,
		Provider:  func(name string) bool { return s.Router.Catalog().HasProvider(name) },
		Now:       cfg.Now,
	}); err != nil {
		return err
	}
	s.Activity, err = activity.New(activity.Config{Store: cfg.Stores.Activity, Directory: d, Now: cfg.Now})
	return err
}

// fingerprint names a key, so that what was sealed with another one is told
// apart.
func fingerprint(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:4])
}

// hasModel says whether the catalog in force knows a model's name.
func (s *Stack) hasModel(name string) bool { return s.Router.Catalog().HasModel(name) }

// ownsKey says whether a key is an account's.
func (s *Stack) ownsKey(ctx context.Context, account, hash string) (bool, error) {
	_, _, ok, err := s.keyOf(ctx, account, hash)
	return ok, err
}

// clear removes what is left of a workspace that was deleted. Its presets
// cannot be reached any more; their store keeps them.
func (s *Stack) clear(ctx context.Context, by router.Actor, workspace string) error {
	return errors.Join(
		s.Keys.ClearWorkspace(ctx, by, workspace),
		s.Credentials.ClearWorkspace(ctx, by, workspace),
		s.Guardrails.ClearWorkspace(ctx, by, workspace),
	)
}

// keyOf returns what an account's inference key is called.
func (s *Stack) keyOf(ctx context.Context, account, hash string) (name, label string, ok bool, err error) {
	k, err := s.stores.Keys.Get(ctx, hash)
	switch {
	case errors.Is(err, keys.ErrNotFound):
		return "", "", false, nil
	case err != nil:
		return "", "", false, err
	case k.Account != account || k.Management:
		return "", "", false, nil
	}
	ok, err = s.Organization.HasWorkspace(ctx, account, k.Workspace) // else it is gone with it
	return k.Name, k.Label, ok, err
}

// rules are what an account, its workspace and the guardrails on a key allow.
func (s *Stack) rules(ctx context.Context, p router.Principal) ([]router.Rule, error) {
	own, err := s.Organization.Rules(ctx, p.Account, p.Workspace)
	if err != nil {
		return nil, err
	}
	guarded, err := s.Guardrails.Policy(ctx, p)
	return append(own, guarded...), err
}
