package router

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
)

// RepliesKept is how long a [Replies] keeps a reply, from the claim on.
const RepliesKept = 24 * time.Hour

// ErrReused is a claim for an idempotency key that another request has used.
var ErrReused = errors.New("router: the idempotency key was used for another request")

// Idempotency marks calls that are one: the second one gets the first one's reply,
// and is neither asked nor charged. A [Ledger] that is no [Replies] keeps none; with
// it each call is answered anew.
type Idempotency struct {
	// Key is the caller's, 1 to 128 visible ASCII characters.
	Key string
	// Digest is of all that must be the same in calls with one Key; where it
	// differs the later call is a [Conflict].
	Digest [sha256.Size]byte
}

// ReplyKey names the reply to a caller's call with an idempotency key. KeyHash is that of
// the caller's API key. A caller without one has its workspace and member there
// ("workspace:ws/ann").
type ReplyKey struct{ Account, KeyHash, Key string }

// Claim asks for a reply, or for the right to make it.
type Claim struct {
	Key    ReplyKey
	Digest [sha256.Size]byte // of what was asked
	// Hold is the ID of the [Hold] that the call will make, if it makes one. It
	// tells calls apart.
	Hold     uuid.UUID
	Now      time.Time
	Deadline time.Time // when the claim may be taken from a call that has not kept its reply
	// Most is about how many replies of the API key are kept; the oldest beyond are dropped.
	Most int
	// After is the hold of an earlier claim that was found dead, whose money was
	// given back; zero for none.
	After uuid.UUID
}

// Claimed is what a claim came to: there is a reply, or it is claimed by the call of
// Hold.
type Claimed struct {
	Hold  uuid.UUID // of the call that has, or had, the claim
	Dead  bool      // the claim's deadline is over
	Reply []byte    // nil while there is none
}

// Kept is a reply to be kept. Stores do not look into it.
type Kept struct {
	Key   ReplyKey
	Hold  uuid.UUID // that of the claim
	Reply []byte    // text in UTF-8 without zero bytes, not empty
}

// Replies is an optional interface of a [Ledger] that keeps replies, for calls with
// an [Idempotency]. A reply that was charged is kept in the transaction that charges
// it, so that after a crash there are both or neither.
//
// As in Ledger, each method is one transaction, and the same again is a no-op.
// Replies go by their keys; claims of one key by their holds. [Ledger.Expire] drops
// all that was claimed [RepliesKept] before its now and is not in flight, however
// much there is: in portions of about its limit, between which others get their turn.
//
// A Ledger that wraps another has the methods of Replies only if it passes them on
// itself; where the other has none they return [errors.ErrUnsupported].
type Replies interface {
	// Claim gives the claim to c, if there is no reply and nobody else has the
	// claim, and returns what there is then. Of many at once one gets it.
	//
	// A claim or a reply that was claimed RepliesKept before c.Now counts as
	// none, unless its call is in flight. A claim of another hold whose Deadline
	// is before c.Now is Dead; it goes to c if c.After is that hold, else it
	// stays. Where the Digest is another one, Claim returns ErrReused.
	//
	// When there are more than c.Most of its account and API key, the oldest are
	// dropped, but none that is in flight. Of those that were claimed at one instant
	// some may stay; and where c.Most is large, some dozens beyond it, for a while.
	Claim(ctx context.Context, c Claim) (Claimed, error)

	// SettleKept is [Recorder.SettleWith] of k.Hold, and keeps k.Reply in the same
	// transaction. Where another call has the claim by now, it is ErrConflict:
	// nothing is settled, recorded or kept, because that call is charged. Where
	// nobody has it, the hold is settled and nothing is kept. What is kept stays.
	SettleKept(ctx context.Context, k Kept, cost Amount, events []Event) error

	// Keep keeps the reply of a call that nothing was held for, if the call still
	// has the claim. Where another call has it, Keep returns ErrConflict.
	Keep(ctx context.Context, k Kept) error

	// Release gives up the claim of a call that failed without a charge. Where
	// that call has no claim, or its reply is kept, it is a no-op.
	Release(ctx context.Context, of ReplyKey, hold uuid.UUID) error
}
