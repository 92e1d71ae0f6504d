package guardrails

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// Kind says whether a guardrail is assigned to a key or to a member.
type Kind uint8

// The two kinds.
const (
	KeyKind    Kind = iota // an API key, by its hash
	MemberKind             // a member of the account, by user id: all keys they created, in every workspace
)

// Assignment assigns a guardrail to a key or to a member. Each key and each member has at
// most one.
type Assignment struct {
	ID        uuid.UUID
	Guardrail uuid.UUID
	Account   string
	Kind      Kind
	Subject   string // key hash or user id
	// Name and Label are those of the key: as of the assignment in a [Store], the current
	// ones from [Service.Assignments].
	Name, Label string
	By          string // user id of the member that assigned it, or ""
	CreatedAt   time.Time
}

// Applied holds the guardrails that cover a principal; nil where there is none.
type Applied struct {
	Workspace, Member, Key *Guardrail
	// Versions are the versions of the coverage of the principal's workspace, member and
	// key, for each that the principal has, even if no guardrail covers it. A store that
	// shares no storage with a ledger returns none.
	Versions []router.Version
}

// Store keeps guardrails and assignments. Each method is one transaction, safe for
// concurrent use, and honours ctx. Text is compared byte for byte. An object of another
// account is treated as one that does not exist. Arguments and results are copies: a
// store shares no memory with its caller.
//
// The change that a method is given is its audit record. The store writes it in the same
// transaction, and only if something changes.
//
// A store that shares its storage with a ledger also raises the [router.Version] of each
// workspace, member and key that is or was covered, with Cover set. It does so with every
// change of a guardrail or of its coverage.
type Store interface {
	// Create adds g. It returns ErrExists if the id is taken, or if g would be a second
	// default of its workspace.
	Create(ctx context.Context, g Guardrail, change router.Change) error
	// Get returns a guardrail, or ErrNotFound.
	Get(ctx context.Context, account string, id uuid.UUID) (Guardrail, error)
	// List returns at most limit guardrails of a workspace, after skipping offset, and
	// the total number. The latest come first, and of equally old ones the largest id.
	List(ctx context.Context, account, workspace string, offset, limit int) ([]Guardrail, int, error)
	// Replace replaces the guardrail that has g's account and id. Workspace and Default
	// of the two are the same. It returns ErrConflict unless the stored Revision is
	// g.Revision-1, and ErrNotFound if there is no such guardrail.
	Replace(ctx context.Context, g Guardrail, change router.Change) error
	// Delete removes a guardrail and its assignments, or returns ErrNotFound.
	Delete(ctx context.Context, account string, id uuid.UUID, change router.Change) error

	// Assign adds rows and returns how many of them changed something. All rows have one
	// account and guardrail, and no two have the same subject. A row replaces an earlier
	// row of its subject, unless that one has the same guardrail: then the earlier row
	// stays. Assign returns ErrNotFound and changes nothing if there is no such
	// guardrail.
	Assign(ctx context.Context, rows []Assignment, change router.Change) (int, error)
	// Unassign removes the rows of a guardrail for the subjects and returns how many
	// there were. It returns ErrNotFound if there is no such guardrail.
	Unassign(ctx context.Context, account string, id uuid.UUID, kind Kind, subjects []string, change router.Change) (int, error)
	// Assignments returns at most limit rows of a guardrail, or of all guardrails with
	// uuid.Nil, after skipping offset, and the total number. The latest come first, and
	// of equally old ones the largest id. It returns ErrNotFound if there is no such
	// guardrail.
	Assignments(ctx context.Context, account string, id uuid.UUID, kind Kind, offset, limit int) ([]Assignment, int, error)
	// Applied returns the default guardrail of p's workspace and those assigned to p's
	// member and key, all from one snapshot. An empty name in p has no guardrail.
	Applied(ctx context.Context, p router.Principal) (Applied, error)
}
