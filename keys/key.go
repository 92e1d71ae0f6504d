package keys

import (
	"context"
	"errors"
	"time"
)

// Errors of [Service]. Unknown and malformed keys are both ErrRefused.
var (
	ErrRefused    = errors.New("keys: invalid API key")
	ErrExpired    = errors.New("keys: API key expired")
	ErrDisabled   = errors.New("keys: API key disabled")
	ErrManagement = errors.New("keys: a management key cannot be used for inference")
	ErrConfig     = errors.New("keys: invalid configuration")
	ErrInvalid    = errors.New("keys: invalid key settings")
)

// Errors of [Store].
var (
	ErrNotFound = errors.New("keys: no such key")
	ErrExists   = errors.New("keys: the key exists already")
)

// Key is what is known of an API key. It never holds the key's text.
type Key struct {
	Hash       string // SHA-256 of the text, lower-case hex; the public id
	Label      string // first 12 characters, "...", last 4
	Name       string
	Account    string
	Workspace  string // a UUID, or "" where the program has no workspaces
	Creator    string // user id of the member who made it, or ""
	Management bool   // for administration; refused for inference
	Disabled   bool
	ExpiresAt  time.Time // zero: never
	CreatedAt  time.Time
}

// Store keeps keys. Each method is one transaction, safe for concurrent use,
// and honours ctx. Text is compared byte for byte. Returned keys are copies.
type Store interface {
	// Create adds k. A key with the same hash is ErrExists.
	Create(ctx context.Context, k Key) error
	// Get returns the key with this hash, or ErrNotFound.
	Get(ctx context.Context, hash string) (Key, error)
}
