package organization

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/router"
)

// Errors of this package. Mistakes in given values are a *systemone.InvalidError that
// lists all of them.
var (
	// ErrNotFound is the error for an account, member, workspace, budget or payment
	// that does not exist or belongs to another account. Callers cannot tell the two
	// apart.
	ErrNotFound = errors.New("organization: not found")
	// ErrExists is the error for an id or a slug that is taken.
	ErrExists = errors.New("organization: exists already")
	// ErrConflict is the error of a change that another change of the object preceded.
	ErrConflict = errors.New("organization: changed meanwhile")
	// ErrConfig is the error for every mistake in a Config.
	ErrConfig = errors.New("organization: invalid configuration")
)

// Store keeps accounts and what belongs to them. It is safe for concurrent
// use, and each method is one transaction that honours ctx, also across processes.
// Text is compared byte for byte. A store shares no memory with the values it is given
// or returns. Objects of another account are ErrNotFound.
//
// Every method that changes something takes the record of the change last and
// stores it in the same transaction, or not at all when nothing changes.
//
// A Replace method replaces an object if the stored Version is the given one, and
// stores the new object with a Version one higher. If the stored Version differs, it
// changes nothing and returns ErrConflict. So a caller that reads an object, checks a
// rule across its fields and replaces it keeps that rule under concurrent changes.
type Store interface {
	// CreateAccount adds an account with its first member and its default
	// workspace. An account with the same id is ErrExists.
	CreateAccount(ctx context.Context, a Account, owner Member, w Workspace, change router.Change) error
	// Account returns the account with this id.
	Account(ctx context.Context, id string) (Account, error)
	// ReplaceAccount replaces an account.
	ReplaceAccount(ctx context.Context, a Account, change router.Change) error
	// AddPayment records a payment and replaces its account, both or neither. A
	// payment with the same id in the account is ErrExists, whatever the Version.
	AddPayment(ctx context.Context, p Payment, a Account, change router.Change) error
	// Payment returns a payment.
	Payment(ctx context.Context, account, id string) (Payment, error)

	// AddMember adds a member to an account. One with the same id in the account
	// is ErrExists.
	AddMember(ctx context.Context, account string, m Member, change router.Change) error
	// ReplaceMember replaces a member.
	ReplaceMember(ctx context.Context, account string, m Member, change router.Change) error
	// RemoveMember removes a member from the account and all its workspaces.
	RemoveMember(ctx context.Context, account, id string, change router.Change) error
	// Member returns a member.
	Member(ctx context.Context, account, id string) (Member, error)
	// Members returns limit of an account's members from offset on, by
	// CreatedAt and then ID, and how many there are in all; a limit of 0 is none.
	Members(ctx context.Context, account string, offset, limit int) ([]Member, int, error)

	// CreateWorkspace adds a workspace to its account. One with the same id, or
	// with the same slug in the account, is ErrExists.
	CreateWorkspace(ctx context.Context, w Workspace, change router.Change) error
	// Workspace returns the workspace with this id, else the one with this slug.
	Workspace(ctx context.Context, account, ref string) (Workspace, error)
	// Workspaces returns limit of an account's workspaces from offset on, by
	// CreatedAt and then ID, and how many there are in all; a limit of 0 is none.
	Workspaces(ctx context.Context, account string, offset, limit int) ([]Workspace, int, error)
	// ReplaceWorkspace replaces a workspace. A slug that another workspace of
	// the account has is ErrExists.
	ReplaceWorkspace(ctx context.Context, w Workspace, change router.Change) error
	// DeleteWorkspace deletes a workspace and its memberships.
	DeleteWorkspace(ctx context.Context, account, id string, change router.Change) error

	// AddToWorkspace adds the memberships that the workspace does not have yet,
	// all or none, and returns how many those were. A user who is not a member of
	// the account is ErrNotFound.
	AddToWorkspace(ctx context.Context, account, workspace string, list []Membership, change router.Change) (int, error)
	// RemoveFromWorkspace removes the memberships of these users and returns how
	// many there were.
	RemoveFromWorkspace(ctx context.Context, account, workspace string, users []string, change router.Change) (int, error)
	// Memberships returns limit of a workspace's memberships from offset on, by
	// CreatedAt and then User, with the roles that the members have now, and how
	// many there are in all; a limit of 0 is none.
	Memberships(ctx context.Context, account, workspace string, offset, limit int) ([]Membership, int, error)
}
