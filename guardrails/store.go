package guardrails

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Kind says what a guardrail is assigned to.
type Kind uint8

// The two kinds.
const (
	KeyKind    Kind = iota // an API key, by its hash
	MemberKind             // a member of the account, by user id: all keys they created, in every workspace
)

// Assignment makes a guardrail cover a key or a member. A key has at most one,
// and so has a member.
type Assignment struct {
	ID        uuid.UUID
	Guardrail uuid.UUID
	Account   string
	Kind      Kind
	Subject   string // hash or user id
	// Name and Label are those of the key when it was assigned.
	Name, Label string
	By          string // user id of who assigned it, or ""
	CreatedAt   time.Time
}

// Applied are the guardrails on the traffic of a principal; nil where there is
// none.
type Applied struct {
	Workspace, Member, Key *Guardrail
	// Versions are those of what covers the principal's workspace, member and key,
	// as far as it has them, also where that is nothing. A store that shares no
	// storage with a ledger has none.
	Versions []router.Version
}

// Store keeps guardrails and assignments. Each method is one transaction, safe
// for concurrent use, and honours ctx. Text is compared byte for byte. What
// belongs to another account is answered like what does not exist. A change is
// stored together with what it is the record of, or not at all, as when nothing
// changes. What goes in and what comes out are copies.
//
// A store that shares its storage with a ledger raises, with every change of a
// guardrail or of what it covers, the [router.Version] of each workspace, member
// and key that is or was covered, with Cover set.
type Store interface {
	// Create adds g. One with the same id, or a second default of a workspace,
	// is ErrExists.
	Create(ctx context.Context, g Guardrail, change router.Change) error
	// Get returns a guardrail, or ErrNotFound.
	Get(ctx context.Context, account string, id uuid.UUID) (Guardrail, error)
	// List returns at most limit guardrails of a workspace after the first
	// offset, the latest first, of equal ones the largest id, and how many
	// there are in all.
	List(ctx context.Context, account, workspace string, offset, limit int) ([]Guardrail, int, error)
	// Replace puts g in the place of the guardrail with its account and id, which
	// is of the same workspace and as much a default one. If that one's Revision
	// is not g's less one, it is ErrConflict; without one it is ErrNotFound.
	Replace(ctx context.Context, g Guardrail, change router.Change) error
	// Delete removes a guardrail and its assignments, or returns ErrNotFound.
	Delete(ctx context.Context, account string, id uuid.UUID, change router.Change) error

	// Assign adds rows, all of one account and guardrail and no two of one
	// subject, and returns how many of them changed something. A subject's
	// earlier row is replaced, but for one of the same guardrail, which stays.
	// Without the guardrail it is ErrNotFound and nothing happens.
	Assign(ctx context.Context, rows []Assignment, change router.Change) (int, error)
	// Unassign removes the rows of a guardrail for the subjects and returns how
	// many there were. Without the guardrail it is ErrNotFound.
	Unassign(ctx context.Context, account string, id uuid.UUID, kind Kind, subjects []string, change router.Change) (int, error)
	// Assignments returns at most limit rows of a guardrail, or of all with
	// uuid.Nil, after the first offset, the latest first, of equal ones the
	// largest id, and how many there are in all. Without the guardrail it is
	// ErrNotFound.
	Assignments(ctx context.Context, account string, id uuid.UUID, kind Kind, offset, limit int) ([]Assignment, int, error)
	// Applied returns the default guardrail of p's workspace and those assigned
	// to p's member and key, all at one instant. An empty name has none.
	Applied(ctx context.Context, p router.Principal) (Applied, error)
}
