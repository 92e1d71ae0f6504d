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

// noLimit is a limit above the length of every list.
const noLimit = 1<<31 - 1

// maxTries is how often Update tries again after concurrent updates of the same
// guardrail.
const maxTries = 64

// Config configures a [Service]. Store is required. A nil lookup finds nothing: without
// Key, for example, no guardrail can be assigned to a key.
type Config struct {
	Store Store // required
	// Workspace returns the id of an account's workspace, given that id, or "" for the
	// default workspace. It returns ErrNotFound if there is none. Guardrails of a
	// workspace that does not exist are neither found nor enforced. Nil is for programs
	// without workspaces: then "" is the only workspace.
	Workspace func(ctx context.Context, account, id string) (string, error)
	// DefaultOf returns the id of the workspace whose default guardrail has the given id,
	// or ErrNotFound. The id of a workspace's default guardrail must never change.
	DefaultOf func(ctx context.Context, account string, guardrail uuid.UUID) (string, error)
	// Key returns the name and the label of a key, and whether the account has that key.
	Key func(ctx context.Context, account, hash string) (name, label string, ok bool, err error)
	// IsMember reports whether the account has a member with the user id.
	IsMember func(ctx context.Context, account, user string) (bool, error)
	// Model and Provider report whether the current catalog knows a name in a list of
	// models or providers. Unknown names become warnings. A nil function knows every
	// name.
	Model, Provider func(name string) bool
	// Engine compiles the content filters; nil is content.New of the zero content.Config.
	// Services may share an engine, and then share its bound on concurrent scans.
	Engine *content.Engine
	// Staleness is how long a change by another process may stay unseen; default 5 s.
	// Changes by this process apply at once.
	Staleness time.Duration
	// MaxCached is the number of principals whose guardrails are cached; default 10,000.
	MaxCached int
	Now       func() time.Time // default time.Now
	NewID     func() uuid.UUID // returns a new unique id; default UUIDv7
}

// Service manages guardrails and applies them to requests. It is safe for concurrent use.
// Management methods act on the account of the actor; an object of another account is
// [ErrNotFound].
type Service struct {
	cfg      Config
	cache    *cache.Cache[router.Principal, covered]
	policies policies
}

// New checks cfg and fills in its defaults. A mistake in cfg is reported as [ErrConfig].
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
		// Must cannot panic here, because crypto/rand never fails.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	if cfg.Engine == nil {
		engine, err := content.New(content.Config{})
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		cfg.Engine = engine
	}
	s := &Service{cfg: cfg, policies: policies{max: cfg.MaxCached, of: map[combination]*keptPolicy{}}}
	s.cache = s.newCache()
	return s, nil
}

// lookups replaces nil lookups by functions that find nothing.
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

// now returns the time in microseconds, the precision of every store.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

// Create adds a guardrail to a workspace; "" is the default workspace. p must set Name.
// The errors are those of [Patch.Check], and [ErrNotFound] for a workspace that the
// account does not have.
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
	return g, nil // a new guardrail covers nothing yet, so no cached policy is stale
}

// Get returns a guardrail. The default guardrail of a workspace is [ErrNotFound] until
// its first update.
func (s *Service) Get(ctx context.Context, by router.Actor, id uuid.UUID) (Guardrail, error) {
	g, err := s.find(ctx, by.Principal.Account, id)
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: get: %w", err)
	}
	return g, nil
}

// find returns a guardrail. A guardrail of a deleted workspace is not found, even while
// the store still holds it.
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

// List returns at most limit guardrails of a workspace, latest first, after skipping
// offset. It also returns the total number. "" is the default workspace; a workspace that
// does not exist is [ErrNotFound].
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

// Update changes fields of a guardrail. The first update of a workspace's default
// guardrail creates it. The errors are those of [Patch.Check], [ErrNoUpdate] for a patch
// without fields, [ErrNotFound], and [ErrConflict] after 64 attempts that conflicted with
// concurrent updates.
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
	if p.grows() { // other fields of a guardrail stored before this limit can still change
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
	s.forget(by.Principal.Account) // also after an error, because the store may have written the change
	if err != nil {
		return Guardrail{}, fmt.Errorf("guardrails: update: %w", err)
	}
	return after, nil
}

// unmade returns the default guardrail with the id as it is before its first update, in
// no store.
func (s *Service) unmade(ctx context.Context, account string, id uuid.UUID) (Guardrail, error) {
	workspace, err := s.cfg.DefaultOf(ctx, account, id)
	return Guardrail{ID: id, Account: account, Workspace: workspace, Default: true, Name: DefaultName}, err
}

// Delete removes a guardrail and its assignments. The default guardrail of a workspace
// cannot be deleted: it is reported as a [*systemone.InvalidError].
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

// ClearWorkspace removes the guardrails of a deleted workspace, with their assignments.
// It does nothing while the account of the actor still has the workspace.
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
