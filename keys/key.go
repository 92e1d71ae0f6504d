package keys

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Errors of [Service]. Unknown and malformed keys are both ErrRefused. Mistakes in
// given settings are a *systemone.InvalidError that lists all of them.
var (
	ErrRefused    = errors.New("keys: invalid API key")
	ErrExpired    = errors.New("keys: API key expired")
	ErrDisabled   = errors.New("keys: API key disabled")
	ErrManagement = errors.New("keys: a management key cannot be used for inference")
	// ErrProvisioned is the error of a change to a key that belongs to a connect
	// client.
	ErrProvisioned = errors.New("keys: the key was provisioned by a connect client")
	// ErrForbidden is the error of an action that only the embedding program may do.
	ErrForbidden = errors.New("keys: only the embedding program may do this")
	ErrConfig    = errors.New("keys: invalid configuration")
)

// Errors of [Store], which [Service] passes on.
var (
	// ErrNotFound is the error for a key, or a workspace, that does not exist or
	// belongs to another account. Callers cannot tell the two apart.
	ErrNotFound = errors.New("keys: no such key")
	ErrExists   = errors.New("keys: the key exists already")
	// ErrConflict is the error of a change that another change of the key preceded.
	ErrConflict = errors.New("keys: the key was changed meanwhile")
)

// Key describes an API key. It never holds the text.
type Key struct {
	Hash       string // SHA-256 of the text, lower-case hex; the public id
	Label      string // first 12 characters, "...", last 4
	Name       string
	Account    string
	Workspace  string // a UUID, or "" where the program has no workspaces and for management keys
	Creator    string // user id of the member whose key it is, or ""
	Management bool   // for administration; refused for inference
	// Provisioned says that a connect client made the key: it can be seen, but
	// only the embedding program changes or deletes it.
	Provisioned bool
	Disabled    bool
	// Limit is what the key may spend in a period of Reset; nil is no limit.
	Limit       *router.USD
	Reset       router.Interval
	IncludeBYOK bool // spending on the caller's own provider credentials counts too
	// ExternalUser is the user for whom a partner's program made the key, or "".
	ExternalUser string
	// ExternalHash is the SHA-256 of the partner's own key for that user, lower-case
	// hex, or "". No reply shows it.
	ExternalHash string
	ExpiresAt    time.Time // zero: never
	CreatedAt    time.Time
	UpdatedAt    time.Time // later with every change
	Version      int64     // 1 at first, one more after each change
}

// Query chooses keys of an account.
type Query struct {
	Workspace       string // only keys of this workspace; "" selects keys without one
	Management      bool   // the management keys instead of those of a workspace
	IncludeDisabled bool
	Offset          int
	Limit           int // 0 is none
}

// Store keeps keys. It is safe for concurrent use, and each method is one
// transaction that honours ctx, also across processes. Text is compared byte
// for byte. A store shares no memory with the keys it is given or returns.
//
// Every method that changes something takes the record of the change last and
// stores it in the same transaction, or not at all when nothing changes.
type Store interface {
	// Create adds k. A key with the same hash is ErrExists.
	Create(ctx context.Context, k Key, change router.Change) error
	// Get returns the key with this hash, of whatever account, or ErrNotFound.
	Get(ctx context.Context, hash string) (Key, error)
	// Replace replaces the key whose Hash, Account and Version are those of k,
	// which is then stored with a Version one higher. Where that key has another
	// Version it changes nothing and returns ErrConflict; where the account has
	// no such key, ErrNotFound.
	Replace(ctx context.Context, k Key, change router.Change) error
	// Delete deletes the key whose Hash, Account and Version are those of k. Its
	// errors are those of Replace.
	Delete(ctx context.Context, k Key, change router.Change) error
	// List returns the account's keys that q chooses, newest first, those of
	// one instant by Hash.
	List(ctx context.Context, account string, q Query) ([]Key, error)
	// CountIn counts the keys of a workspace.
	CountIn(ctx context.Context, account, workspace string) (int, error)
	// CountOf counts the keys that a member created in a workspace, or, when
	// workspace is "", all that they created in the account, management keys
	// among them.
	CountOf(ctx context.Context, account, workspace, creator string) (int, error)
}
