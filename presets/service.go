package presets

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/cache"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const (
	maxSlug = 128 // characters
	// maxTries is how often a write is made again that a store refuses with
	// ErrConflict.
	maxTries = 8

	defaultVersions = 100
	defaultPresets  = 1000
)

// Config sets up a [Service].
type Config struct {
	Store Store // required
	// Workspace returns the id of the account's workspace with the given id, the id
	// of its default workspace for "", or ErrNotFound if there is none. Nil is for
	// programs without workspaces, where "" is the only one.
	Workspace func(ctx context.Context, account, id string) (string, error)
	// MaxVersions is how many versions of a preset are kept; default 100. One more
	// deletes the oldest, which is then ErrNotFound. Numbers are not used again.
	MaxVersions int
	// MaxPresets is how many presets a workspace may have; default 1,000. One more is
	// refused. Presets are never deleted.
	MaxPresets int
	Now        func() time.Time // default time.Now
	NewID      func() uuid.UUID // makes ids that were never used; default UUIDv7
}

// Service makes, reads and applies presets. It is safe for concurrent use.
//
// Its methods for management act within the account of the actor and in one
// of its workspaces, "" being the default one.
type Service struct {
	cfg   Config
	cache *cache.Cache[name, *settings]
}

// New checks cfg and fills in its defaults. A mistake is [ErrConfig].
func New(cfg Config) (*Service, error) {
	if name := typednil.Field(cfg); name != "" {
		return nil, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Store == nil {
		return nil, fmt.Errorf("%w: Store is required", ErrConfig)
	}
	if cfg.MaxVersions < 0 || cfg.MaxPresets < 0 {
		return nil, fmt.Errorf("%w: MaxVersions and MaxPresets must not be negative", ErrConfig)
	}
	cfg.MaxVersions = cmp.Or(cfg.MaxVersions, defaultVersions)
	cfg.MaxPresets = cmp.Or(cfg.MaxPresets, defaultPresets)
	if cfg.Workspace == nil {
		cfg.Workspace = noWorkspaces
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		// Must cannot fail here: crypto/rand never does.
		cfg.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	s := &Service{cfg: cfg}
	s.cache = s.newCache()
	return s, nil
}

func noWorkspaces(_ context.Context, _, id string) (string, error) {
	if id != "" {
		return "", ErrNotFound
	}
	return "", nil
}

// Create makes the body of a request the next version of the preset with that slug,
// and designates it. It makes the preset if there is none. Mistakes in the slug or
// the body are a [*systemone.InvalidError], and so are a version of more than
// [MaxVersionBytes] and a preset beyond MaxPresets. If concurrent writes keep
// preceding this one, the error is [ErrConflict].
func (s *Service) Create(ctx context.Context, by router.Actor, workspace, slug string, shape Shape, body []byte) (Preset, error) {
	workspace, err := s.place(ctx, by, workspace, slug)
	draft, bad := Decode(shape, body)
	if err := both(err, bad); err != nil {
		return Preset{}, err
	}
	now := s.now()
	account, creator := by.Principal.Account, by.Principal.Member
	p := Preset{
		ID: s.cfg.NewID(), Account: account, Workspace: workspace, Slug: slug, Name: slug,
		Status: Active, Creator: creator, CreatedAt: now, UpdatedAt: now,
	}
	v := Version{ID: s.cfg.NewID(), Config: draft.Config, SystemPrompt: draft.SystemPrompt, Creator: creator, CreatedAt: now}
	change := s.change(by, now, "create", "preset_version", v.ID)
	change.After = versionRecord(p, v)
	got, err := s.add(ctx, p, v, change)
	s.forget(account, slug) // also after a failure, because the store may have made the change
	if errors.Is(err, ErrFull) {
		return Preset{}, &systemone.InvalidError{Issues: []systemone.Issue{{
			Path: "slug", Message: "would be a new preset: the workspace has " + strconv.Itoa(s.cfg.MaxPresets) + ", the most it may have",
		}}}
	}
	if err != nil {
		return Preset{}, fmt.Errorf("presets: create: %w", err)
	}
	return got, nil
}

// both joins the mistakes in the slug with those in the body. Any other error of the
// place takes precedence.
func both(place, body error) error {
	here, ok := errors.AsType[*systemone.InvalidError](place)
	if place != nil && !ok {
		return place
	}
	there, ok := errors.AsType[*systemone.InvalidError](body)
	switch {
	case place == nil:
		return body
	case !ok:
		return place
	}
	return &systemone.InvalidError{Issues: slices.Concat(here.Issues, there.Issues)}
}

// add adds a version, and tries again after a conflict.
func (s *Service) add(ctx context.Context, p Preset, v Version, change router.Change) (Preset, error) {
	b := Bounds{Versions: s.cfg.MaxVersions, Presets: s.cfg.MaxPresets}
	for try := 1; ; try++ {
		got, err := s.cfg.Store.AddVersion(ctx, p, v, b, change)
		if err == nil || !errors.Is(err, ErrConflict) || try == maxTries {
			return got, err
		}
	}
}

// SetStatus sets whether a preset can be used. It is for the embedding program; the
// HTTP interface has no route for it.
func (s *Service) SetStatus(ctx context.Context, by router.Actor, workspace, slug string, status Status) (Preset, error) {
	if status != Active && status != Disabled && status != Archived {
		return Preset{}, &systemone.InvalidError{Issues: []systemone.Issue{{Path: "status", Message: "must be one of active, disabled, archived"}}}
	}
	before, err := s.Get(ctx, by, workspace, slug)
	if err != nil {
		return Preset{}, err
	}
	now := s.now()
	change := s.change(by, now, "update", "preset", before.ID)
	change.Before, change.After = statusRecord(before, before.Status), statusRecord(before, status)
	got, err := s.cfg.Store.SetStatus(ctx, before.Account, before.Workspace, slug, status, now, change)
	s.forget(before.Account, slug) // also after a failure, as in Create
	if err != nil {
		return Preset{}, fmt.Errorf("presets: set status: %w", err)
	}
	return got, nil
}

// Get returns a preset, or [ErrNotFound].
func (s *Service) Get(ctx context.Context, by router.Actor, workspace, slug string) (Preset, error) {
	workspace, err := s.place(ctx, by, workspace, slug)
	if err != nil {
		return Preset{}, err
	}
	p, err := s.cfg.Store.Get(ctx, by.Principal.Account, workspace, slug)
	return p, wrap("get", err)
}

// List returns at most limit of a workspace's presets from offset on, the newest
// update first, and how many there are in all.
func (s *Service) List(ctx context.Context, by router.Actor, workspace string, offset, limit int) ([]Preset, int, error) {
	workspace, err := s.cfg.Workspace(ctx, by.Principal.Account, workspace)
	if err != nil {
		return nil, 0, wrap("workspace", err)
	}
	list, total, err := s.cfg.Store.List(ctx, by.Principal.Account, workspace, offset, limit)
	return list, total, wrap("list", err)
}

// Version returns one version of a preset, or [ErrNotFound], also if it is no longer
// kept.
func (s *Service) Version(ctx context.Context, by router.Actor, workspace, slug string, number int) (Version, error) {
	workspace, err := s.place(ctx, by, workspace, slug)
	if err != nil {
		return Version{}, err
	}
	v, err := s.cfg.Store.Version(ctx, by.Principal.Account, workspace, slug, number)
	return v, wrap("version", err)
}

// Versions returns at most limit of the kept versions of a preset from offset on, the
// oldest first, and how many are kept in all.
func (s *Service) Versions(ctx context.Context, by router.Actor, workspace, slug string, offset, limit int) ([]Version, int, error) {
	workspace, err := s.place(ctx, by, workspace, slug)
	if err != nil {
		return nil, 0, err
	}
	list, total, err := s.cfg.Store.Versions(ctx, by.Principal.Account, workspace, slug, offset, limit)
	return list, total, wrap("versions", err)
}

// place checks a slug and finds the workspace.
func (s *Service) place(ctx context.Context, by router.Actor, workspace, slug string) (string, error) {
	if !validSlug(slug) {
		return "", &systemone.InvalidError{Issues: []systemone.Issue{{
			Path: "slug", Message: "must be 1 to 128 letters, digits, dots, underscores, tildes and hyphens",
		}}}
	}
	workspace, err := s.cfg.Workspace(ctx, by.Principal.Account, workspace)
	return workspace, wrap("workspace", err)
}

func validSlug(slug string) bool {
	for _, c := range []byte(slug) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '~', c == '-':
		default:
			return false
		}
	}
	return slug != "" && len(slug) <= maxSlug
}

// now returns the time of a change, in the microseconds that every store keeps.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Microsecond) }

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("presets: %s: %w", doing, err)
}

func (s *Service) change(by router.Actor, at time.Time, action, kind string, object uuid.UUID) router.Change {
	return router.Change{
		ID: s.cfg.NewID(), At: at, Actor: by, Action: action, Kind: kind, Object: object.String(), Account: by.Principal.Account,
	}
}

// versionRecord returns what the record of a change shows of a version.
func versionRecord(p Preset, v Version) json.RawMessage {
	b := systemone.AppendString([]byte(`{"workspace_id":`), p.Workspace)
	b = systemone.AppendString(append(b, `,"slug":`...), p.Slug)
	b = append(append(b, `,"config":`...), v.Config...)
	b = systemone.AppendString(append(b, `,"system_prompt":`...), v.SystemPrompt)
	return append(b, '}')
}

// statusRecord returns what the record of a change shows of a status.
func statusRecord(p Preset, status Status) json.RawMessage {
	b := systemone.AppendString([]byte(`{"workspace_id":`), p.Workspace)
	b = systemone.AppendString(append(b, `,"slug":`...), p.Slug)
	b = systemone.AppendString(append(b, `,"status":`...), string(status))
	return append(b, '}')
}
