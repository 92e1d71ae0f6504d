package presets

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Errors of [Service] and [Store].
var (
	// ErrNotFound is the error for a preset, a version or a workspace that the
	// account does not have.
	ErrNotFound = errors.New("presets: no such preset")
	// ErrConflict is the error of a write that a concurrent write preceded. Nothing was
	// changed.
	ErrConflict = errors.New("presets: the preset was changed meanwhile")
	// ErrFull says that a workspace already has as many presets as it may have.
	ErrFull   = errors.New("presets: the workspace is full")
	ErrConfig = errors.New("presets: invalid configuration")
)

// Status says whether a preset can be used.
type Status string

// Every status. A preset that is not active can be read, but not used.
const (
	Active   Status = "active"
	Disabled Status = "disabled"
	Archived Status = "archived"
)

// Preset is a named list of versions, of which the last one is in force.
type Preset struct {
	ID              uuid.UUID
	Account         string
	Workspace       string // a UUID, or "" where the program has no workspaces
	Slug            string // unique within the workspace
	Name            string // the slug
	Status          Status
	StatusUpdatedAt time.Time // zero until the status is changed
	Creator         string    // user id of the member who made it, or ""
	CreatedAt       time.Time
	UpdatedAt       time.Time // of the last version or the last change of status; never goes back
	Designated      Version   // in force
}

// Version is one state of a preset's settings. It never changes.
type Version struct {
	ID     uuid.UUID
	Preset uuid.UUID
	Number int // 1, 2, 3, …
	// Config holds the members that were kept, as a JSON object. Values are
	// those that were sent, digit for digit.
	Config       json.RawMessage
	SystemPrompt string // "" where the request had none
	Creator      string // user id of the member who made it, or ""
	CreatedAt    time.Time
}

// Bounds are how much a [Store] keeps; 0 is no bound.
type Bounds struct {
	Versions int // of each preset: the newest
	Presets  int // in each workspace
}

// Store keeps presets. Each method is one transaction, safe for concurrent
// use, and honours ctx. Text is compared byte for byte. A preset of another
// account or workspace is ErrNotFound, like one that does not exist. What is
// returned shares no memory with the storage.
type Store interface {
	// AddVersion adds v to the preset with p's Account, Workspace and Slug, after its
	// last version. Without such a preset it adds p, and v is its first version. It
	// sets v's Preset and Number, and returns the preset with v designated.
	// UpdatedAt becomes v's CreatedAt, unless it is later already. Numbers have no
	// gaps and are never used twice. A store that cannot order concurrent writes
	// returns ErrConflict and changes nothing.
	//
	// The newest b.Versions of the preset's versions are kept, v among them; the same
	// transaction deletes the others. If the workspace already has b.Presets, a new
	// preset is ErrFull and nothing changes.
	AddVersion(ctx context.Context, p Preset, v Version, b Bounds, change router.Change) (Preset, error)
	// SetStatus sets the status as of at, which also becomes UpdatedAt unless
	// that is later already.
	SetStatus(ctx context.Context, account, workspace, slug string, status Status, at time.Time, change router.Change) (Preset, error)
	// Get returns a preset.
	Get(ctx context.Context, account, workspace, slug string) (Preset, error)
	// List returns the presets of a workspace from offset on, at most limit of
	// them, the newest UpdatedAt first and the greatest ID first among equals,
	// and how many there are in all.
	List(ctx context.Context, account, workspace string, offset, limit int) ([]Preset, int, error)
	// Version returns one version of a preset. One that was deleted is
	// ErrNotFound.
	Version(ctx context.Context, account, workspace, slug string, number int) (Version, error)
	// Versions returns the kept versions of a preset from offset on, at most limit of
	// them, the oldest first, and how many are kept in all.
	Versions(ctx context.Context, account, workspace, slug string, offset, limit int) ([]Version, int, error)
}
