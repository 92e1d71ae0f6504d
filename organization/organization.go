package organization

import (
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Account is an organization or a person's own account.
type Account struct {
	ID               string
	Name             string
	Personal         bool   // not an organization: no settings, and the owner is the only member
	DefaultWorkspace string // a UUID
	// FilteredCatalog makes the model listing of the account's keys show only the
	// models that they can use.
	FilteredCatalog  bool
	Allowed, Ignored []string // provider slugs, for every call of the account
	ZDR              bool     // zero retention for every call of the account
	// Prepaid refuses calls once Credits are spent. The first payment sets it;
	// until then the account spends without a limit.
	Prepaid              bool
	Credits              router.USD // all that was ever paid in
	CreatedAt, UpdatedAt time.Time
	Version              int64 // counts changes, from 1; see [Store]
}

// Settings are those that an organization's own keys can change.
type Settings struct {
	FilteredCatalog bool
}

// Role is what a member may do in an organization.
type Role string

// The roles.
const (
	RoleAdmin  Role = "org:admin"
	RoleMember Role = "org:member"
)

// Member is a person of an account.
type Member struct {
	ID                  string // user id
	Email               string
	FirstName, LastName string // "" where it is not known
	Role                Role
	CreatedAt           time.Time
	Version             int64 // counts changes, from 1; see [Store]
}

// Workspace is a part of an account with keys and budgets of its own.
type Workspace struct {
	ID          string // a UUID
	Account     string
	Slug        string // unique within the account
	Name        string
	Description *string
	CreatedBy   string // user id, or "" for the embedding program
	// DefaultGuardrail is the id of the guardrail that every key of the
	// workspace has. It is fixed from the start, so that the guardrail itself
	// can be made when it is first needed.
	DefaultGuardrail string
	// DefaultSort is the order for requests without one; "" sets none.
	DefaultSort systemone.SortBy
	Budgets     []Budget // the broadest first, at most one for each interval
	// IncludeBYOK makes all budgets count calls with the caller's own provider
	// credentials, too.
	IncludeBYOK          bool
	CreatedAt, UpdatedAt time.Time
	Version              int64 // counts changes, from 1; see [Store]
}

// Budget is what a workspace may spend in each period of an interval.
type Budget struct {
	ID                   string // a UUID
	Interval             router.Interval
	Limit                router.USD
	CreatedAt, UpdatedAt time.Time
}

// Budget returns the budget of an interval.
func (w Workspace) Budget(i router.Interval) (Budget, bool) {
	for _, b := range w.Budgets {
		if b.Interval == i {
			return b, true
		}
	}
	return Budget{}, false
}

// Membership is a member of the account in a workspace.
type Membership struct {
	ID        string // a UUID, the same whenever the same member is added
	User      string
	Workspace string
	Role      Role // that of the organization
	CreatedAt time.Time
}

// membershipID is a pure function of its arguments. So adding a member twice gives
// the same membership, and memberships of default workspaces need not be stored.
func membershipID(workspace, user string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("workspace:"+workspace+"/member:"+user)).String()
}

// Payment is money paid into an account.
type Payment struct {
	ID      string // the payer's, unique within the account
	Account string
	Amount  router.USD // above zero
	At      time.Time
}
