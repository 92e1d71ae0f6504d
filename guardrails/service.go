package guardrails

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// DefaultName is the name of every workspace's default guardrail.
const DefaultName = "Workspace default"

// noLimit is a limit that no list reaches.
const noLimit = 1<<31 - 1

// maxTries is how often an update that loses to others is tried again.
const maxTries = 64

// Config sets up a [Service]. What it does not know of does not exist: without
// Key nothing can be assigned to keys, for example.
type Config struct {
	Store Store // required
	// Workspace returns the id of an account's workspace that has the given id,
	// and of its default workspace for ""; ErrNotFound where there is none. nil
	// is for programs without workspaces, where "" is the only one. The
	// guardrails of a workspace that there is not are neither found nor enforced.
	Workspace func(ctx context.Context, account, id string) (string, error)
	// DefaultOf returns the id of the workspace whose default guardrail has the
	// id, or ErrNotFound. A workspace has the same one for good.
	DefaultOf func(ctx context.Context, account string, guardrail uuid.UUID) (string, error)
	// Key returns the name and the label of a key, and whether the account has
	// it.
	Key func(ctx context.Context, account, hash string) (name, label string, ok bool, err error)
	// IsMember says whether the account has a member.
	IsMember func(ctx context.Context, account, user string) (bool, error)
	// Model and Provider say whether the catalog in force knows a name in a list
	// of models or providers; one that it does not know is warned of. Nil knows
	// all.
	Model, Provider func(name string) bool
	Scan            content.Config
	// Staleness is for how long a change that another process makes may go
	// unseen; default 5 s. Changes of this process act at once.
	Staleness time.Duration
	// MaxCached is for how many principals the guardrails are remembered;
	// default 10,000.
	MaxCached int
	Now       func() time.Time // default time.Now
	NewID     func() uuid.UUID // makes ids that were never used; default UUIDv7
}

// Service manages guardrails and applies them to requests. It is safe for
// concurrent use. Its methods for management act within the account of the
// actor; what belongs to another is [ErrNotFound].
type Service struct {
	cfg      Config
	content  *content.Engine
	cache    *cache.Cache[router.Principal, covered]
	policies policies
}

// New checks cfg and fills in its defaults. A mistake is [ErrConfig].
func New(cfg Config) (*Service, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	switch {
	case cfg.Store == nil:
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	case cfg.Staleness < 0, cfg.MaxCached < 0:
		return nil, fmt.Errorf("%w: Staleness and MaxCached must not be negative", ErrConfig)
	}
	cfg.lookups()
	if cfg.Staleness == 0 {
		cfg.Staleness = 5 * time.Second
	}
	if cfg.MaxCached == 0 {
		cfg.MaxCached = 10_000
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		// Must cannot fail here: crypto/rand never does.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	engine, err := content.New(cfg.Scan)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s := &Service{cfg: cfg, content: engine, policies: policies{max: cfg.MaxCached, of: map[combination]*keptPolicy{}}}
	s.cache = s.newCache()
	return s, nil
}

// lookups replaces what is nil by what knows nothing.
func (cfg *Config) lookups() {
	if cfg.Workspace == nil {
		cfg.Workspace = func(_ context.Context, _, id string) (string, error) {
			if id != "" {
				return "", ErrNotFound
			}
			return "", nil
		}
	}
	if cfg.DefaultOf == nil {
		cfg.DefaultOf = func(context.Context, string, uuid.UUID) (string, error) { return "", ErrNotFound }
	}
	if cfg.Key == nil {
		cfg.Key = func(context.Context, string, string) (string, string, bool, error) { return "", "", false, nil }
	}
	if cfg.IsMember == nil {
		cfg.IsMember = func(context.Context, string, string) (bool, error) { return false, nil }
	}
}

// now is the time to the microsecond, which is what every store keeps.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

// Create makes a guardrail in a workspace; "" is the default one, and one that
// the account does not have is [ErrNotFound]. What is wrong with the guardrail
// is what [Patch.Check] says; p needs a Name.
func (s *Service) Create(ctx context.Context, by router.Actor, workspace string, p Patch) (Guardrail, error) {
	if err := p.Check(); err != nil {
		return Guardrail{}, err
	}
	if !p.Name.Set {
		return Guardrail{}, invalid("name", "is required")
	}
	workspace, err := s.cfg.Workspace(ctx, by.Principal.Account, workspace)
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: create: %w", err)
	}
	now := s.now()
	g := p.apply(Guardrail{ID: s.cfg.NewID(), Account: by.Principal.Account, Workspace: workspace, CreatedAt: now, UpdatedAt: now, Revision: 1})
	if err := g.checkSize(); err != nil {
		return Guardrail{}, err
	}
	if err := s.cfg.Store.Create(ctx, g, s.change(by, "create", g.ID, nil, s.recordOf(g, p))); err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: create: %w", err)
	}
	return g, nil // it is assigned to nobody, so nothing cached is stale
}

// Get returns a guardrail. A workspace's default one is not found until it was
// first updated.
func (s *Service) Get(ctx context.Context, by router.Actor, id uuid.UUID) (Guardrail, error) {
	g, err := s.find(ctx, by.Principal.Account, id)
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: get: %w", err)
	}
	return g, nil
}

// find returns a guardrail. Those of a workspace that was deleted are gone with
// it, whatever the store still holds.
func (s *Service) find(ctx context.Context, account string, id uuid.UUID) (Guardrail, error) {
	g, err := s.cfg.Store.Get(ctx, account, id)
	if err != nil {
		return Guardrail{}, err
	}
	if _, err := s.cfg.Workspace(ctx, account, g.Workspace); err != nil {
		return Guardrail{}, err
	}
	return g, nil
}

// List returns at most limit guardrails of a workspace after the first offset,
// the latest first, and how many there are in all. "" is the default
// workspace; one that does not exist is ErrNotFound.
func (s *Service) List(ctx context.Context, by router.Actor, workspace string, offset, limit int) ([]Guardrail, int, error) {
	workspace, err := s.cfg.Workspace(ctx, by.Principal.Account, workspace)
	if err != nil {
		return nil, 0, fmt.Errorf("guardrails: list: %w", err)
	}
	list, total, err := s.cfg.Store.List(ctx, by.Principal.Account, workspace, offset, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("guardrails: list: %w", err)
	}
	return list, total, nil
}

// Update changes fields of a guardrail; a workspace's default one is made by
// its first update. What is wrong is what [Patch.Check] says; a patch without
// fields is [ErrNoUpdate]. One that keeps losing to others is [ErrConflict].
func (s *Service) Update(ctx context.Context, by router.Actor, id uuid.UUID, p Patch) (Guardrail, error) {
	if err := p.Check(); err != nil {
		return Guardrail{}, err
	}
	if p.empty() {
		return Guardrail{}, ErrNoUpdate
	}
	for range maxTries {
		g, err := s.update(ctx, by, id, p)
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) {
			return g, err
		}
	}
	return Guardrail{}, ErrConflict
}

func (s *Service) update(ctx context.Context, by router.Actor, id uuid.UUID, p Patch) (Guardrail, error) {
	before, err := s.find(ctx, by.Principal.Account, id)
	if errors.Is(err, ErrNotFound) {
		before, err = s.unmade(ctx, by.Principal.Account, id)
	}
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: update: %w", err)
	}
	if before.Default && p.Name.Set && p.Name.To != before.Name {
		return Guardrail{}, invalid("name", "of a workspace's default guardrail cannot change")
	}
	after := p.apply(before)
	if p.grows() { // one that an earlier version took can be changed otherwise
		if err := after.checkSize(); err != nil {
			return Guardrail{}, err
		}
	}
	after.UpdatedAt = s.now()
	after.Revision++
	if before.Revision == 0 {
		after.CreatedAt = after.UpdatedAt
		err = s.cfg.Store.Create(ctx, after, s.change(by, "create", id, nil, s.recordOf(after, p)))
	} else {
		err = s.cfg.Store.Replace(ctx, after, s.change(by, "update", id, before.record(), s.recordOf(after, p)))
	}
	s.forget(by.Principal.Account) // also when it failed: who knows whether it was written
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: update: %w", err)
	}
	return after, nil
}

// unmade returns the default guardrail that has the id, as it is before its
// first update.
func (s *Service) unmade(ctx context.Context, account string, id uuid.UUID) (Guardrail, error) {
	workspace, err := s.cfg.DefaultOf(ctx, account, id)
	return Guardrail{ID: id, Account: account, Workspace: workspace, Default: true, Name: DefaultName}, err
}

// Delete removes a guardrail and its assignments. A workspace's default one
// cannot be deleted.
func (s *Service) Delete(ctx context.Context, by router.Actor, id uuid.UUID) error {
	g, err := s.find(ctx, by.Principal.Account, id)
	switch {
	case err != nil:
		return fmt.Errorf("guardrails: delete: %w", err)
	case g.Default:
		return invalid("id", "is a workspace's default guardrail, which cannot be deleted")
	}
	if err := s.discard(ctx, by, g); err != nil {
		return fmt.Errorf("guardrails: delete: %w", err)
	}
	return nil
}

func (s *Service) discard(ctx context.Context, by router.Actor, g Guardrail) error {
	defer s.forget(g.Account)
	return s.cfg.Store.Delete(ctx, g.Account, g.ID, s.change(by, "delete", g.ID, g.record(), nil))
}

// ClearWorkspace removes the guardrails, with their assignments, that are left
// of a workspace that the actor's account no longer has. One that it still has
// is left alone.
func (s *Service) ClearWorkspace(ctx context.Context, by router.Actor, workspace string) error {
	account := by.Principal.Account
	if _, err := s.cfg.Workspace(ctx, account, workspace); workspace == "" || !errors.Is(err, ErrNotFound) {
		return err
	}
	list, _, err := s.cfg.Store.List(ctx, account, workspace, 0, noLimit)
	if err != nil {
		return fmt.Errorf("guardrails: clear a workspace: %w", err)
	}
	for _, g := range list {
		if err := s.discard(ctx, by, g); err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("guardrails: clear a workspace: %w", err)
		}
	}
	return nil
}

func invalid(path, message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Path: path, Message: message}}}
}
