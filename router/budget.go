package router

import "github.com/google/uuid"

// Owner says whose spending a line or a limit counts. Every call counts for all
// owners of its principal, from the first call on and whether or not a limit
// exists. The zero value is OwnerAccount.
type Owner uint8

// Every owner of a call's spending.
const (
	OwnerAccount   Owner = iota // the account
	OwnerWorkspace              // the key's workspace
	OwnerMember                 // the key's creator, over all keys they created in the account
	OwnerKey                    // the key

	owners = iota
)

// Line returns the owner's line in a [Ledger] for a window; the zero Line where the
// principal has no such owner.
func (o Owner) Line(p Principal, window string) Line {
	owner := o.append(nil, p)
	if len(owner) == 0 {
		return Line{}
	}
	return Line{Owner: string(owner), Window: window}
}

func (o Owner) append(dst []byte, p Principal) []byte {
	switch {
	case o == OwnerAccount && p.Account != "":
		return append(append(dst, "account:"...), p.Account...)
	case o == OwnerWorkspace && p.Workspace != "":
		return append(append(dst, "workspace:"...), p.Workspace...)
	case o == OwnerMember && p.Member != "":
		return append(append(appendAccount(append(dst, "member:"...), p.Account), '/'), p.Member...)
	case o == OwnerKey && p.KeyHash != "":
		return append(append(dst, "key:"...), p.KeyHash...)
	}
	return dst
}

// appendAccount appends an account and a slash. A slash in the account is written
// as %2F and a percent sign is escaped too, so that members of different accounts
// never share a name.
func appendAccount(dst []byte, account string) []byte {
	for i := range len(account) {
		switch c := account[i]; c {
		case '/':
			dst = append(dst, "%2F"...)
		case '%':
			dst = append(dst, "%25"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Check is a kind of limit. The policy that sets the limit defines it.
type Check struct {
	// Order says when the limit is checked: a lower one before a higher one. The
	// policies of this module leave gaps: 10 is the account's credits, 20 a key's
	// limit, 30 a workspace's budgets and 40 those of guardrails.
	Order uint8
	// Word is the reason that reports give for a skipped candidate, such as
	// key_limit.
	Word string
}

// String returns the word.
func (c Check) String() string { return c.Word }

// MarshalText returns the word.
func (c Check) MarshalText() ([]byte, error) { return []byte(c.Word), nil }

// Budget is a limit on a call's spending, which an interceptor appends to
// [Call.Budgets]. The order of interceptors does not matter: budgets are checked by
// the order of their Check, then by Owner, then by Interval, the broadest first.
// The first that has no room for a candidate refuses it. A budget of an owner that
// the principal does not have limits nothing.
type Budget struct {
	Check    Check
	Owner    Owner
	Interval Interval
	Max      USD
	BYOK     bool // spending on the caller's own provider credentials counts too
	// Refusal is the error that the caller gets. Nil is a [PaymentRequired] without
	// a message.
	Refusal *Error
}

// Credential is a caller's own account at a provider.
type Credential struct {
	ID       uuid.UUID
	Provider string   // slug; it covers all variants
	Models   []string // ids, dated ids or aliases that it is used for; nil is all
	Fallback bool     // tried after the shared endpoints instead of before
	Secret   Secret   // sent upstream in place of the operator's
}
