package signalbox

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

// joinServices makes the policies. The policy packages do not import each other, so
// each gets what it needs from the others as functions.
func (s *Service) joinServices(cfg Config) (err error) {
	if s.Organization, err = organization.New(organization.Config{
		Store:   cfg.Stores.Organization,
		Audit:   cfg.Stores.Audit,
		Ledger:  cfg.Stores.Ledger,
		KeysIn:  cfg.Stores.Keys.CountIn,
		KeysOf:  cfg.Stores.Keys.CountOf,
		Deleted: s.clear,
		Now:     cfg.Now,
		NewID:   cfg.NewID,
	}); err != nil {
		return err
	}
	d := directory{s.Organization}
	settings := cfg.Keys
	settings.Store, settings.Ledger, settings.Directory = cfg.Stores.Keys, cfg.Stores.Ledger, d
	settings.Now, settings.NewID = cfg.Now, cfg.NewID
	if s.Keys, err = keys.New(settings); err != nil {
		return err
	}
	if err := s.joinCredentials(cfg, d); err != nil {
		return err
	}
	if err := s.joinPresets(cfg, d); err != nil {
		return err
	}
	if err := s.joinGuardrails(cfg, d); err != nil {
		return err
	}
	s.Activity, err = activity.New(activity.Config{
		Store: cfg.Stores.Activity, Directory: d, FreeUnrecorded: cfg.Router.FreeWithoutLedger, Now: cfg.Now,
	})
	return err
}

func (s *Service) joinCredentials(cfg Config, d directory) (err error) {
	sealing := make([]keys.SealingKey, len(cfg.SealingKeys))
	for i, key := range cfg.SealingKeys {
		sealing[i] = keys.SealingKey{ID: fingerprint(key), Key: key}
	}
	s.Credentials, err = keys.NewCredentials(keys.CredentialsConfig{
		Store:       cfg.Stores.Credentials,
		SealingKeys: sealing,
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
		NewID:   cfg.NewID,
	})
	return err
}

func (s *Service) joinPresets(cfg Config, d directory) (err error) {
	settings := cfg.Presets
	settings.Store, settings.Now, settings.NewID = cfg.Stores.Presets, cfg.Now, cfg.NewID
	settings.Workspace = func(ctx context.Context, account, id string) (string, error) {
		return d.workspace(ctx, account, id, presets.ErrNotFound)
	}
	s.Presets, err = presets.New(settings)
	return err
}

func (s *Service) joinGuardrails(cfg Config, d directory) (err error) {
	settings := cfg.Guardrails
	settings.Store, settings.Now, settings.NewID = cfg.Stores.Guardrails, cfg.Now, cfg.NewID
	settings.Workspace = func(ctx context.Context, account, id string) (string, error) {
		return d.workspace(ctx, account, id, guardrails.ErrNotFound)
	}
	settings.DefaultOf, settings.IsMember, settings.Key = d.defaultOf, d.IsMember, s.keyOf
	settings.Model = s.hasModel
	settings.Provider = func(name string) bool { return s.Router.Catalog().HasProvider(name) }
	s.Guardrails, err = guardrails.New(settings)
	return err
}

// fingerprint returns the ID of a sealing key. The ID is stored with each credential
// and tells which key decrypts it.
func fingerprint(key router.Secret) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}

// hasModel reports whether the current catalog knows a model's name.
func (s *Service) hasModel(name string) bool { return s.Router.Catalog().HasModel(name) }

// ownsKey reports whether the key belongs to the account.
func (s *Service) ownsKey(ctx context.Context, account, hash string) (bool, error) {
	_, _, ok, err := s.keyOf(ctx, account, hash)
	return ok, err
}

// clear removes the keys, credentials and guardrails of a deleted workspace. Its
// presets stay in their store, but no request can reach them.
func (s *Service) clear(ctx context.Context, by router.Actor, workspace string) error {
	return errors.Join(
		s.Keys.ClearWorkspace(ctx, by, workspace),
		s.Credentials.ClearWorkspace(ctx, by, workspace),
		s.Guardrails.ClearWorkspace(ctx, by, workspace),
	)
}

// keyOf returns the name and label of an account's inference key.
func (s *Service) keyOf(ctx context.Context, account, hash string) (name, label string, ok bool, err error) {
	k, err := s.stores.Keys.Get(ctx, hash)
	switch {
	case errors.Is(err, keys.ErrNotFound):
		return "", "", false, nil
	case err != nil:
		return "", "", false, err
	case k.Account != account || k.Management:
		return "", "", false, nil
	}
	ok, err = s.Organization.HasWorkspace(ctx, account, k.Workspace) // a deleted workspace takes its keys with it
	return k.Name, k.Label, ok, err
}

// rules returns the rules of the account, of its workspace and of the guardrails
// that apply to p.
func (s *Service) rules(ctx context.Context, p router.Principal) ([]router.Rule, error) {
	own, err := s.Organization.Rules(ctx, p.Account, p.Workspace)
	if err != nil {
		return nil, err
	}
	guarded, err := s.Guardrails.Policy(ctx, p)
	return append(own, guarded...), err
}
