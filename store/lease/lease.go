// Package lease lets many processes spend from one busy budget without waiting for its row in
// the database. Each process draws a slice of what is left and admits calls from the slice in
// memory.
//
// A slice is a hold in the ledger below. It is durable before a call is admitted from it, and
// it counts against every limit until it is given back or expires. So nothing is ever
// overspent, whichever process dies when. The cost of a call is settled below, in one
// transaction that takes it out of the slice, before the caller has its answer.
//
// The price:
//   - A call may be refused while slices of other processes still have money of its budget.
//   - Balances show slices as held.
//   - Expiry closes the slices of a dead process like calls. With [router.ExpirePost] they
//     count as spent in full.
//   - A limit that another process lowers, or a key that it disables, acts on the next slice
//     and not on the next call. Until then a process can spend what it has in slices: at most
//     Config.Calls times the largest cost of a call, for each set of lines. With the default
//     of 1,000 calls of at most $0.002 that is $2 for each process and key. It is never more
//     than 1/(2·Config.Nodes) of what was left of the limit when the slice was drawn.
//
// docs/adr/0016-leases.md weighs this. Use it only where calls wait for each other in the
// database.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Base is a ledger that slices can be drawn from, as the ledgers of store/postgres and
// store/sqlite.
type Base interface {
	router.Ledger
	router.Recorder

	// Split moves part of a hold into a new hold with the ID, the Deadline and the
	// Event of part, on the same lines. The total that is held does not change, so no
	// cap is checked; Lines and Caps of part are ignored. If whole has less than
	// part.Amount, the new hold gets what is left. If whole is closed, the new hold is
	// closed too; if expiry charged whole, the part stays charged. A hold that exists
	// under part.ID stays as it is. Split returns router.ErrNoHold if whole is unknown.
	Split(ctx context.Context, whole uuid.UUID, part router.Hold) error

	// SettlePart is Split followed by SettleWith of the part, in one transaction.
	SettlePart(ctx context.Context, whole uuid.UUID, part router.Hold, cost router.Amount, events []router.Event) error
}

// Config configures a [Ledger].
type Config struct {
	Ledger router.Ledger // required; a Base
	// Nodes is how many processes draw slices at most; default 4. A slice is at most
	// 1/(2·Nodes) of what is left, so that all of them can draw and something stays.
	Nodes int
	// Calls is the largest size of a slice, in calls of the size of the one that draws
	// it; default 1000. The first slices are smaller. It bounds, for each set of lines,
	// what a dead process leaves charged without having spent it, and what is spent
	// beyond a limit that another process lowers.
	Calls int
	// Life is how long after the call that draws it a slice expires; default 5 minutes.
	// It should be more than twice the time between calls of Expire.
	Life time.Duration
	// NewID returns IDs that were never used; default UUIDv7.
	NewID func() uuid.UUID
}

// ErrBase reports a ledger that is nil or no [Base].
var ErrBase = errors.New("lease: Config.Ledger is nil or does not implement Base")

var errConfig = errors.New("lease: Config.Nodes, Calls and Life must not be negative")

var (
	_ router.Ledger   = (*Ledger)(nil)
	_ router.Recorder = (*Ledger)(nil)
)

// Ledger is a [router.Ledger] that admits calls from slices. It is safe for concurrent use and
// has no goroutine of its own: calls that need a slice draw it, and [Ledger.Expire] and
// [Ledger.Close] give slices back. All calls about one hold must go to the same Ledger, because
// others learn of what was admitted from a slice only when it is settled.
//
// The first call with given lines and caps goes to the ledger below. Slices grow with the calls
// that follow. Calls for which no slice can be drawn go to the ledger below as well, so that
// the last dollars of a budget are spent exactly.
type Ledger struct {
	base  Base
	nodes router.USD
	most  router.USD
	life  time.Duration
	newID func() uuid.UUID
	plain int // calls of a fund that go to the base before its first slice

	mu     sync.Mutex
	calls  map[uuid.UUID]*call
	closed closedCalls
	funds  map[string]*fund
	slices map[*slice]struct{}                 // all whose hold in the base may be open
	on     map[router.Line]map[*slice]struct{} // the same, by line
	shut   bool                                // Close was called
}

// New returns a ledger that draws slices from cfg.Ledger.
func New(cfg Config) (*Ledger, error) {
	base, ok := cfg.Ledger.(Base)
	if !ok || typednil.Is(base) {
		return nil, ErrBase
	}
	if cfg.Nodes < 0 || cfg.Calls < 0 || cfg.Life < 0 {
		return nil, errConfig
	}
	l := &Ledger{
		base: base, nodes: router.USD(cfg.Nodes), most: router.USD(cfg.Calls), life: cfg.Life, newID: cfg.NewID, plain: 1,
		calls: map[uuid.UUID]*call{}, closed: closedCalls{known: map[uuid.UUID]closedCall{}},
		funds: map[string]*fund{}, slices: map[*slice]struct{}{}, on: map[router.Line]map[*slice]struct{}{},
	}
	if l.nodes == 0 {
		l.nodes = 4
	}
	if l.most == 0 {
		l.most = 1000
	}
	if l.life == 0 {
		l.life = 5 * time.Minute
	}
	if l.newID == nil {
		// NewV7 fails only without randomness of the system, which Go treats as fatal.
		l.newID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	return l, nil
}

// RecordsTo implements [router.Recorder].
func (l *Ledger) RecordsTo(store any) bool { return l.base.RecordsTo(store) }

// Balances implements [router.Ledger]. Slices count as held, including their free part.
func (l *Ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	return l.base.Balances(ctx, lines)
}
