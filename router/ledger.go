package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Line is what spending is counted on: an owner's spending in one window, as
// [Interval.Window] names it. A new period is a new line, so nothing ever has
// to be reset.
type Line struct {
	Owner  string // e.g. "key:9f86…"; see [Owner]
	Window string
}

// Amount is money on a line, in two accounts. Zero is nothing; neither is ever
// negative, and Credit is at most Total, but for the cost of an [Event] that
// takes another back.
type Amount struct {
	Credit USD // what is charged to the account
	Total  USD // and what calls with the caller's own provider credentials cost
}

// BYOK is the part of calls with the caller's own provider credentials.
func (a Amount) BYOK() USD { return a.Total - a.Credit }

// Of returns the account that a limit looks at.
func (a Amount) Of(byok bool) USD {
	if byok {
		return a.Total
	}
	return a.Credit
}

// Max returns the larger of each account.
func (a Amount) Max(b Amount) Amount {
	return Amount{Credit: max(a.Credit, b.Credit), Total: max(a.Total, b.Total)}
}

// Cap is a limit on one line. It is inclusive.
type Cap struct {
	Line Line // one of the hold's lines
	Max  USD
	BYOK bool // the limit looks at Total, else at Credit
}

// Version is the version of an owner's limits that a policy has read. A store that
// changes a limit, or whom it covers, raises the version in the same transaction.
type Version struct {
	Line Line // the owner's for [Lifetime]
	// Cover says that N is the version of what covers the owner, such as a guardrail
	// that is assigned to it, instead of that of the owner's own record. The two are
	// counted independently.
	Cover bool
	N     int64
}

// Hold asks for Amount to be set aside on every line until Deadline.
type Hold struct {
	ID     uuid.UUID // chosen by the caller; a retry carries the same one
	Lines  []Line    // at least one, no two equal
	Caps   []Cap     // in the order of the checks; several may be on one line
	Amount Amount
	// Versions are those that the caps were read at, with the limits that no cap
	// stands for because there are none. Each Line is one of Lines; no two are
	// equal.
	Versions []Version
	Deadline time.Time // when [Ledger.Expire] may close it
	// Event is what a [Recorder] records, at the cost of what is held, when
	// expiry posts the hold. Without an ID nothing is recorded; a Ledger that is
	// no Recorder ignores it. Of a hold that is reserved several times it is that
	// of the latest Reserve that was not refused.
	Event Event
}

// Balance is what stands on a line.
type Balance struct{ Spent, Held Amount }

// Expiry says what becomes of a hold whose owner is gone.
type Expiry uint8

// The two ways.
const (
	ExpirePost Expiry = iota // counted as spent at the held amount: the upstream may have been reached
	ExpireVoid               // given back
)

// Errors of a [Ledger].
var (
	// ErrNoHold is a settlement of a hold that the ledger does not know.
	ErrNoHold = errors.New("router: no such hold")
	// ErrConflict is a hold or a settlement that contradicts an earlier one of
	// the same id.
	ErrConflict = errors.New("router: the hold contradicts an earlier one")
	// ErrFinal is what a ledger wraps in an error of its own that stays, however
	// often the same is asked.
	ErrFinal = errors.New("router: asking again is no use")
)

// LimitError is a hold that does not fit.
type LimitError struct {
	Cap  int // index of the first cap in Hold.Caps that refuses
	Left USD // what was left under it, negative when it is overdrawn
}

// Error says which cap refused.
func (e *LimitError) Error() string {
	return fmt.Sprintf("router: limit %d leaves only %s USD", e.Cap, e.Left)
}

// StaleError is a hold whose limits were changed after they had been read.
type StaleError struct {
	Versions []int // indexes of those in Hold.Versions that are old, ascending
}

// Error says how many versions are old.
func (e *StaleError) Error() string {
	return fmt.Sprintf("router: %d of the limits were changed since they were read", len(e.Versions))
}

// Ledger counts what was spent and what is set aside on each line.
//
// Each method is one transaction: it happens as a whole or not at all, with
// calls arriving from many goroutines and many processes at once. There is no
// Begin: what must happen together is one method. Methods honour ctx.
//
// Errors come in two kinds. ErrNoHold, ErrConflict, a *LimitError, a *StaleError
// and whatever wraps ErrFinal, as for what can never be stored, are answers, and
// stay. All
// others may be gone in a moment: the database was restarting, a connection
// broke, the disk was full. Whoever gets one of these knows neither whether the
// method happened nor has to: everything goes by the hold's ID, and the same
// again is a no-op. So the router repeats [Ledger.Settle], [Ledger.Void] and
// [Recorder.SettleWith] for up to ten seconds, with pauses, before a call fails
// that was answered, or a hold is left to expire. It does not repeat Reserve:
// whose hold cannot be made is told so at once. A ledger that repeats within
// itself what it knows to be harmless is welcome to.
//
// A method added later comes as an optional interface, so that a Ledger that
// compiles today compiles against every later v1; [Recorder] is one. Prove yours
// with store/storetest.
type Ledger interface {
	// Reserve adds h.Amount to what is held on every line, or to none: when
	// spent plus held plus what h adds would exceed a cap, it returns a
	// *LimitError for the first such cap. A cap to whose account h adds nothing
	// never refuses.
	//
	// Before the caps it looks at h.Versions: where the store that the ledger
	// belongs to has a higher one, of a limit that was changed since, it adds
	// nothing and returns a *StaleError. The comparison is part of the transaction,
	// so that no hold is made by old limits once the change of one has returned. A
	// ledger that knows no versions, or not that one, does not look: then a change
	// acts when the caches of the policies are over.
	//
	// When a hold with h.ID is open it is raised: each of its amounts becomes
	// the larger of the two, its deadline the later, and only the difference is
	// checked and added; versions are not looked at. So the same h again is a
	// no-op, and a refused raise leaves the hold as it was. Other lines than before, or a hold that is
	// closed, are ErrConflict.
	Reserve(ctx context.Context, h Hold) error

	// Settle turns a hold into spending of cost. The money is gone, so it is
	// recorded even when it exceeds the hold or a limit, and even after the
	// hold was voided or has expired: what expiry posted is then corrected.
	// Twice with one cost is a no-op, with two is ErrConflict; an unknown hold
	// is ErrNoHold.
	Settle(ctx context.Context, hold uuid.UUID, cost Amount) error

	// Void gives an open hold back, and takes back what expiry posted: its owner was
	// only late to say that nothing was spent. On a hold that is settled, voided or
	// unknown it is a no-op.
	Void(ctx context.Context, hold uuid.UUID) error

	// Expire closes at most limit open holds whose deadline is before now, as
	// policy says, and returns how many. Closed holds may be forgotten 24 hours
	// after their deadline; a Settle is then ErrNoHold, and a Void a no-op.
	Expire(ctx context.Context, now time.Time, limit int, policy Expiry) (int, error)

	// Balances returns what stands on each line, in their order, all at one
	// instant; zeros for lines never used.
	Balances(ctx context.Context, lines []Line) ([]Balance, error)
}
