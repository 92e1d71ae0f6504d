package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Line is one account in the books of a [Ledger]: an owner's spending in one
// window, as [Interval.Window] names it. A new period is a new line, so nothing is
// ever reset.
type Line struct {
	Owner  string // e.g. "key:9f86…"; see [Owner]
	Window string
}

// Amount is money on a line, counted in two ways. The zero value is nothing.
// Neither is ever negative and Credit is at most Total, except for the cost of an
// [Event] that takes another back.
type Amount struct {
	Credit USD // what the account is charged
	Total  USD // Credit, plus the cost of calls with the caller's own provider credentials
}

// BYOK returns the part of calls with the caller's own provider credentials.
func (a Amount) BYOK() USD { return a.Total - a.Credit }

// Of returns the figure that a limit compares: Total with byok, else Credit.
func (a Amount) Of(byok bool) USD {
	if byok {
		return a.Total
	}
	return a.Credit
}

func (a Amount) plus(b Amount) Amount { return Amount{a.Credit + b.Credit, a.Total + b.Total} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Credit - b.Credit, a.Total - b.Total} }

// Max returns the larger of both for each figure.
func (a Amount) Max(b Amount) Amount {
	return Amount{Credit: max(a.Credit, b.Credit), Total: max(a.Total, b.Total)}
}

// Cap is an inclusive limit on one line.
type Cap struct {
	Line Line // one of the hold's lines
	Max  USD
	BYOK bool // the limit compares Total, else Credit
}

// Version is the version of an owner's limits that a policy has read. A store that
// changes a limit, or which owners it covers, raises the version in the same
// transaction.
type Version struct {
	Line Line // the owner's line for [Lifetime]
	// Cover says that N is the version of what covers the owner, such as its
	// assigned guardrails, instead of the owner's own record. The two are counted
	// independently.
	Cover bool
	N     int64
}

// Hold asks for Amount to be held on every line until Deadline.
type Hold struct {
	ID     uuid.UUID // chosen by the caller; a retry carries the same one
	Lines  []Line    // at least one, no two equal
	Caps   []Cap     // in the order of the checks; several may be on one line
	Amount Amount
	// Versions are those at which the limits were read, including owners that have
	// no limit and so no cap. Each Line is one of Lines; no two are equal.
	Versions []Version
	Deadline time.Time // when [Ledger.Expire] may close it
	// Event is what a [Recorder] records when expiry charges the hold, at the cost
	// of what is held. Without an ID nothing is recorded; a Ledger that is no
	// Recorder ignores it. When a hold is raised, the Event of the latest Reserve
	// that was not refused counts.
	Event Event
}

// Balance is the spending and the open holds on a line.
type Balance struct{ Spent, Held Amount }

// Expiry says how an expired hold is closed. The zero value is ExpirePost.
type Expiry uint8

// Every value of Expiry.
const (
	ExpirePost Expiry = iota // charge the held amount, because the upstream may have been asked
	ExpireVoid               // give it back
)

// Errors of a [Ledger].
var (
	// ErrNoHold is returned for a settlement of a hold that the ledger does not
	// know.
	ErrNoHold = errors.New("router: no such hold")
	// ErrConflict is returned for a hold or a settlement that contradicts an
	// earlier one of the same ID.
	ErrConflict = errors.New("router: the hold contradicts an earlier one")
	// ErrFinal is wrapped by a ledger's own error when a retry cannot succeed.
	ErrFinal = errors.New("router: a retry cannot succeed")
)

// LimitError is returned for a hold that does not fit under a cap.
type LimitError struct {
	Cap  int // index of the first cap in Hold.Caps that refuses
	Left USD // what was left under it; negative when it is exceeded
}

// Error says which cap refused.
func (e *LimitError) Error() string {
	return fmt.Sprintf("router: limit %d leaves only %s USD", e.Cap, e.Left)
}

// StaleError is returned for a hold whose limits have changed since they were read.
type StaleError struct {
	Versions []int // indexes of the old ones in Hold.Versions, ascending
}

// Error says how many versions are old.
func (e *StaleError) Error() string {
	return fmt.Sprintf("router: %d of the limits were changed since they were read", len(e.Versions))
}

// Ledger counts what was spent and what is held on each line.
//
// Each method is one transaction: it takes effect as a whole or not at all, with
// calls from many goroutines and many processes at once. There is no Begin: what
// must happen together is one method. Methods honour ctx.
//
// Errors are of two kinds. ErrNoHold, ErrConflict, a *LimitError, a *StaleError and
// what wraps ErrFinal, such as a value that can never be stored, are final: a retry
// cannot succeed. All others may be temporary: the database was restarting, a
// connection broke, the disk was full. After one of these the method may or may not
// have taken effect. The caller may repeat it, because every method is idempotent
// by the hold's ID.
//
// The router therefore repeats [Ledger.Settle], [Ledger.Void] and
// [Recorder.SettleWith] for up to ten seconds, with pauses. After that an answered
// call fails, or a hold is left to expire. The router does not repeat Reserve: its
// error is returned to the caller at once. A ledger may itself repeat what it knows
// to be harmless.
//
// A method added later comes as an optional interface such as [Recorder], so that a
// Ledger that compiles today compiles against every later v1. store/storetest tests
// an implementation.
type Ledger interface {
	// Reserve adds h.Amount to what is held on every line, or to none. When spent
	// plus held plus what h adds would exceed a cap, it returns a *LimitError for
	// the first such cap. A cap to whose figure h adds nothing never refuses.
	//
	// Before the caps it compares h.Versions. Where the ledger's store has a higher
	// version, a limit was changed since: Reserve holds nothing and returns a
	// *StaleError. The comparison is part of the transaction, so no hold is made
	// under an old limit once its change has returned. A ledger that knows no
	// versions, or not that one, skips the comparison; a change then takes effect
	// when the policies' caches expire.
	//
	// An open hold with h.ID is raised: each of its amounts becomes the larger of
	// the two and its deadline the later one. Only the difference is checked and
	// added; versions are not compared. The same h again is a no-op, and a refused
	// raise leaves the hold unchanged. Other lines than before, or a closed hold,
	// are ErrConflict.
	Reserve(ctx context.Context, h Hold) error

	// Settle turns a hold into spending of cost. The money is spent, so Settle
	// records it even when it exceeds the hold or a limit, and even after the hold
	// was voided or has expired. What expiry charged is then corrected. Twice with
	// one cost is a no-op, with two is ErrConflict; an unknown hold is ErrNoHold.
	Settle(ctx context.Context, hold uuid.UUID, cost Amount) error

	// Void gives an open hold back. It also takes back what expiry charged, because
	// nothing was spent. On a hold that is settled, voided or unknown it is a
	// no-op.
	Void(ctx context.Context, hold uuid.UUID) error

	// Expire closes at most limit open holds whose deadline is before now, as
	// policy says, and returns how many. Closed holds may be forgotten 24 hours
	// after their deadline; a Settle is then ErrNoHold, and a Void a no-op.
	Expire(ctx context.Context, now time.Time, limit int, policy Expiry) (int, error)

	// Balances returns the balance of each line, in the order of lines and all at
	// one instant; zeros for lines never used.
	Balances(ctx context.Context, lines []Line) ([]Balance, error)
}
