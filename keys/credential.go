package keys

import (
	"context"
	"errors"
	"time"

	"github.com/signalbox/signalbox/router"
)

// Errors of [Credentials] and [CredentialStore].
var (
	// ErrNoCredential is the error for a credential that does not exist or belongs
	// to another account.
	ErrNoCredential = errors.New("keys: no such credential")
	// ErrCredentialChanged is the error of a change that another change of the same
	// credential preceded.
	ErrCredentialChanged = errors.New("keys: the credential has changed meanwhile")
	// ErrSealed is the error for a sealed text that no configured key opens: its key
	// was removed, or the row was tampered with.
	ErrSealed = errors.New("keys: the sealed text does not open")
)

// Credential describes an account's own credential at a provider. It never holds
// the text.
type Credential struct {
	ID        string // a UUID
	Account   string
	Workspace string // that it is for: a UUID, or "" where the program has no workspaces
	Provider  string // base slug; it is for all variants
	Label     string // of a long text the first 4 characters, "...", the last 4; else "..."
	Name      string // "" is none
	Disabled  bool
	Fallback  bool     // tried after the shared endpoints instead of before
	Models    []string // ids, dated ids or aliases it is for; nil is all
	KeyHashes []string // API keys that may use it; nil is all
	Members   []string // user ids whose API keys may use it; nil is all
	// Order numbers the credentials of the workspace in the order of their creation,
	// from 1 up, with gaps where some were deleted. They are tried in this order.
	Order     int64
	CreatedAt time.Time
	Revision  int64 // counts the changes, from 1 up
}

// Sealed is an encrypted text.
type Sealed struct {
	KeyID string // of the [SealingKey]
	Text  []byte // nonce, ciphertext and tag
}

// StoredCredential is a credential as stores keep it.
type StoredCredential struct {
	Credential
	Sealed Sealed
}

// CredentialQuery asks for a page of a workspace's credentials.
type CredentialQuery struct {
	Account, Workspace string
	Provider           string // "" is all
	Offset, Limit      int
}

// CredentialStore keeps credentials. Each method is one transaction, safe for
// concurrent use, and honours ctx. Another account's credential is
// [ErrNoCredential], like a missing one. Returned values are copies, and nil
// lists come back as nil. A method that changes something stores the record of
// the change in the same transaction.
type CredentialStore interface {
	// Create adds c, whose ID is new, as the last of its account's workspace,
	// and returns its Order: one more than the largest ever given there.
	Create(ctx context.Context, c StoredCredential, change router.Change) (int64, error)
	// Get returns a credential, or ErrNoCredential.
	Get(ctx context.Context, account, id string) (StoredCredential, error)
	// List returns a page in the order of Order, and how many there are in all.
	List(ctx context.Context, q CredentialQuery) ([]Credential, int, error)
	// Enabled returns those of an account's workspace that are not disabled, in
	// the order of Order.
	Enabled(ctx context.Context, account, workspace string) ([]StoredCredential, error)
	// Update replaces what may change: everything but ID, Account, Workspace,
	// Provider, Order and CreatedAt. It counts Revision up. When the stored
	// Revision is not that of c, it is ErrCredentialChanged.
	Update(ctx context.Context, c StoredCredential, change router.Change) error
	// Delete removes a credential for good. When the stored Revision is not the
	// one given, it is ErrCredentialChanged.
	Delete(ctx context.Context, account, id string, revision int64, change router.Change) error
}
