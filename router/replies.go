package router

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
)

// RepliesKept is how long a [Replies] keeps a reply, counted from its claim.
const RepliesKept = 24 * time.Hour

// ErrReused is returned for a claim of an idempotency key that was used for another
// request.
var ErrReused = errors.New("router: the idempotency key was used for another request")

// Idempotency makes repeated calls one call: later calls get the first one's reply,
// ask no upstream and are not charged. It needs a [Ledger] that is a [Replies];
// with any other each call is answered anew.
type Idempotency struct {
	// Key is the caller's idempotency key, 1 to 128 visible ASCII characters.
	Key string
	// Digest is the hash of all that must be equal in calls with one Key. A later
	// call with another Digest is a [Conflict].
	Digest [sha256.Size]byte
}

// ReplyKey identifies the reply to a caller's idempotency key. KeyHash is that of the
// caller's API key or, without one, the caller's workspace and member
// ("workspace:ws/ann").
type ReplyKey struct{ Account, KeyHash, Key string }

// Claim asks for a reply, or for the right to make it.
type Claim struct {
	Key    ReplyKey
	Digest [sha256.Size]byte // of what was asked
	// Hold is the ID of the [Hold] that the call will make, if it makes one. It
	// distinguishes calls.
	Hold     uuid.UUID
	Now      time.Time
	Deadline time.Time // when another call may take the claim over, if no reply is kept
	// Most is about how many replies of the API key are kept; older ones are
	// dropped.
	Most int
	// After is the Hold of a dead claim that this claim replaces, whose hold is
	// voided already; zero for none.
	After uuid.UUID
}

// Claimed is the outcome of a claim: a kept reply, or the call that has the claim.
type Claimed struct {
	Hold  uuid.UUID // of the call that has or had the claim
	Dead  bool      // the claim's deadline is over
	Reply []byte    // nil while there is none
}

// Kept is a reply to keep. Stores do not interpret it.
type Kept struct {
	Key   ReplyKey
	Hold  uuid.UUID // that of the claim
	Reply []byte    // text in UTF-8 without zero bytes, not empty
}

// Replies is an optional interface of a [Ledger] that keeps replies, for calls with
// an [Idempotency]. A charged reply is kept in the transaction that charges it, so
// that a crash leaves both or neither.
//
// As in Ledger, each method is one transaction, and a repetition is a no-op.
// Replies are identified by their keys, and claims of one key by their holds.
// [Ledger.Expire] drops all that was claimed [RepliesKept] before its now and is
// not in flight, however much there is. It does so in portions of about its limit,
// so that it does not block other transactions for long.
//
// A Ledger that wraps another has the methods of Replies only if it forwards them
// itself; where the inner ledger has none they return [errors.ErrUnsupported].
type Replies interface {
	// Claim gives the claim to c if there is neither a reply nor another claim, and
	// returns the resulting state. Of concurrent calls exactly one gets it.
	//
	// A claim or reply that was claimed RepliesKept before c.Now counts as absent,
	// unless its call is in flight. A claim of another hold whose Deadline is
	// before c.Now is Dead; c takes it over if c.After is that hold. Where the
	// Digest differs, Claim returns ErrReused.
	//
	// When an account and API key have more than c.Most replies, the oldest are
	// dropped, but none that is in flight. Some of those claimed at one instant may
	// stay. Where c.Most is large, some dozens beyond it may stay for a while.
	Claim(ctx context.Context, c Claim) (Claimed, error)

	// SettleKept is [Recorder.SettleWith] of k.Hold, and keeps k.Reply in the same
	// transaction. Where another call has taken the claim over, it returns
	// ErrConflict: nothing is settled, recorded or kept, because the other call is
	// charged. Where no call has the claim, the hold is settled and nothing is
	// kept. A reply that is already kept stays.
	SettleKept(ctx context.Context, k Kept, cost Amount, events []Event) error

	// Keep keeps the reply of a call without a hold, if the call still has the
	// claim. Where another call has it, Keep returns ErrConflict.
	Keep(ctx context.Context, k Kept) error

	// Release gives up the claim of a call that failed without a charge. It is a
	// no-op where that call has no claim or its reply is kept.
	Release(ctx context.Context, of ReplyKey, hold uuid.UUID) error
}
