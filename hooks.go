package signalbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/store"
)

// joinHooks makes the hooks. Where they have receivers, it wraps the stores, so that
// each recorded change becomes an event.
func (s *Service) joinHooks(cfg *Config) (err error) {
	settings := cfg.Hooks
	settings.Ledger, settings.Alerts = cfg.Stores.Ledger, cfg.Stores.Alerts
	settings.Logger, settings.Now, settings.NewID = cfg.Logger, cfg.Now, cfg.NewID
	if s.Hooks, err = hooks.New(settings); err != nil || len(settings.Receivers) == 0 {
		return err
	}
	cfg.Stores = announced(cfg.Stores, s.Hooks.Changed)
	s.stores = cfg.Stores
	return nil
}

// announce is called with each change that a store has recorded.
type announce func(router.Change)

// announced returns a set whose stores announce what they record.
func announced(set store.Set, f announce) store.Set {
	set.Keys = announcedKeys{set.Keys, f}
	set.Credentials = announcedCredentials{set.Credentials, f}
	set.Presets = announcedPresets{set.Presets, f}
	set.Guardrails = announcedGuardrails{set.Guardrails, f}
	set.Organization = announcedOrganization{set.Organization, f}
	return set
}

// after announces c, unless err is not nil, and returns err.
func (f announce) after(c router.Change, err error) error {
	if err == nil {
		f(c)
	}
	return err
}

// afterSome is after for an action that changed n objects. Nothing is recorded for none.
func (f announce) afterSome(c router.Change, n int, err error) (int, error) {
	if err == nil && n > 0 {
		f(c)
	}
	return n, err
}

type announcedKeys struct {
	keys.Store
	announce
}

func (s announcedKeys) Create(ctx context.Context, k keys.Key, c router.Change) error {
	return s.after(c, s.Store.Create(ctx, k, c))
}

func (s announcedKeys) Replace(ctx context.Context, k keys.Key, c router.Change) error {
	return s.after(c, s.Store.Replace(ctx, k, c))
}

func (s announcedKeys) Delete(ctx context.Context, k keys.Key, c router.Change) error {
	return s.after(c, s.Store.Delete(ctx, k, c))
}

type announcedCredentials struct {
	keys.CredentialStore
	announce
}

func (s announcedCredentials) Create(ctx context.Context, of keys.StoredCredential, c router.Change) (int64, error) {
	rank, err := s.CredentialStore.Create(ctx, of, c)
	return rank, s.after(c, err)
}

func (s announcedCredentials) Update(ctx context.Context, of keys.StoredCredential, c router.Change) error {
	return s.after(c, s.CredentialStore.Update(ctx, of, c))
}

func (s announcedCredentials) Delete(ctx context.Context, account, id string, revision int64, c router.Change) error {
	return s.after(c, s.CredentialStore.Delete(ctx, account, id, revision, c))
}

type announcedPresets struct {
	presets.Store
	announce
}

func (s announcedPresets) AddVersion(
	ctx context.Context, p presets.Preset, v presets.Version, b presets.Bounds, c router.Change,
) (presets.Preset, error) {
	p, err := s.Store.AddVersion(ctx, p, v, b, c)
	return p, s.after(c, err)
}

func (s announcedPresets) SetStatus(
	ctx context.Context, account, workspace, slug string, to presets.Status, at time.Time, c router.Change,
) (presets.Preset, error) {
	p, err := s.Store.SetStatus(ctx, account, workspace, slug, to, at, c)
	return p, s.after(c, err)
}

type announcedGuardrails struct {
	guardrails.Store
	announce
}

func (s announcedGuardrails) Create(ctx context.Context, g guardrails.Guardrail, c router.Change) error {
	return s.after(c, s.Store.Create(ctx, g, c))
}

func (s announcedGuardrails) Replace(ctx context.Context, g guardrails.Guardrail, c router.Change) error {
	return s.after(c, s.Store.Replace(ctx, g, c))
}

func (s announcedGuardrails) Delete(ctx context.Context, account string, id uuid.UUID, c router.Change) error {
	return s.after(c, s.Store.Delete(ctx, account, id, c))
}

func (s announcedGuardrails) Assign(ctx context.Context, rows []guardrails.Assignment, c router.Change) (int, error) {
	n, err := s.Store.Assign(ctx, rows, c)
	return s.afterSome(c, n, err)
}

func (s announcedGuardrails) Unassign(
	ctx context.Context, account string, id uuid.UUID, kind guardrails.Kind, subjects []string, c router.Change,
) (int, error) {
	n, err := s.Store.Unassign(ctx, account, id, kind, subjects, c)
	return s.afterSome(c, n, err)
}

type announcedOrganization struct {
	organization.Store
	announce
}

func (s announcedOrganization) CreateAccount(
	ctx context.Context, a organization.Account, owner organization.Member, w organization.Workspace, c router.Change,
) error {
	return s.after(c, s.Store.CreateAccount(ctx, a, owner, w, c))
}

func (s announcedOrganization) ReplaceAccount(ctx context.Context, a organization.Account, c router.Change) error {
	return s.after(c, s.Store.ReplaceAccount(ctx, a, c))
}

func (s announcedOrganization) AddPayment(
	ctx context.Context, p organization.Payment, a organization.Account, c router.Change,
) error {
	return s.after(c, s.Store.AddPayment(ctx, p, a, c))
}

func (s announcedOrganization) AddMember(ctx context.Context, account string, m organization.Member, c router.Change) error {
	return s.after(c, s.Store.AddMember(ctx, account, m, c))
}

func (s announcedOrganization) ReplaceMember(
	ctx context.Context, account string, m organization.Member, c router.Change,
) error {
	return s.after(c, s.Store.ReplaceMember(ctx, account, m, c))
}

func (s announcedOrganization) RemoveMember(ctx context.Context, account, id string, c router.Change) error {
	return s.after(c, s.Store.RemoveMember(ctx, account, id, c))
}

func (s announcedOrganization) CreateWorkspace(ctx context.Context, w organization.Workspace, c router.Change) error {
	return s.after(c, s.Store.CreateWorkspace(ctx, w, c))
}

func (s announcedOrganization) ReplaceWorkspace(ctx context.Context, w organization.Workspace, c router.Change) error {
	return s.after(c, s.Store.ReplaceWorkspace(ctx, w, c))
}

func (s announcedOrganization) DeleteWorkspace(ctx context.Context, account, id string, c router.Change) error {
	return s.after(c, s.Store.DeleteWorkspace(ctx, account, id, c))
}

func (s announcedOrganization) AddToWorkspace(
	ctx context.Context, account, workspace string, list []organization.Membership, c router.Change,
) (int, error) {
	n, err := s.Store.AddToWorkspace(ctx, account, workspace, list, c)
	return s.afterSome(c, n, err)
}

func (s announcedOrganization) RemoveFromWorkspace(
	ctx context.Context, account, workspace string, users []string, c router.Change,
) (int, error) {
	n, err := s.Store.RemoveFromWorkspace(ctx, account, workspace, users, c)
	return s.afterSome(c, n, err)
}
