// Package lease lets many processes spend from one hot budget without meeting
// at its row: each draws a slice of what is left, and admits calls from it in
// memory.
//
// The one thing to know first: a slice is a hold in the ledger below. So it is
// on disk before any call is admitted from it, counts against every limit until
// it is given back or expires, and nothing is ever overspent, whichever process
// dies when. What a call cost is settled below in one transaction that takes it
// out of the slice, before the caller has its answer.
//
// The price: a call may be refused while other processes have money of the same
// budget in their slices, balances show slices as held, and the slices of a
// process that died are closed by expiry like its calls: posted, they count as
// spent in full. And a limit that is lowered, or a key that is disabled, in one
// process acts in another one on the next slice that it draws, not on the next
// call. What that one may spend until then is what it has in slices: at most
// Config.Calls times what a call may cost at the most, for each set of lines. With
// the default of 1,000 calls, and calls that may cost $0.002, that is $2 a process
// and key; never more than 1/(2·Config.Nodes) of what was left of the limit when
// the slice was drawn. docs/adr/0016-leases.md weighs it. Use it where calls wait
// for each other in the database, and not before.
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

// Base is a ledger that slices can be drawn from. Those of store/postgres and
// store/sqlite are.
type Base interface {
	router.Ledger
	router.Recorder

	// Split makes a part of a hold a hold of its own, with the ID, the Deadline
	// and the Event of part, on the lines of whole, which keeps the rest. What is
	// set aside in all stays the same, so no cap is asked; Lines and Caps of part
	// mean nothing. When whole has less than part's Amount, the part is what is
	// there. Of a closed hold the part is closed, too: of a posted one it is
	// posted at its amount. A hold that is there under the part's ID stays as it
	// is. An unknown whole is router.ErrNoHold.
	Split(ctx context.Context, whole uuid.UUID, part router.Hold) error

	// SettlePart is Split and SettleWith of the part, in one transaction.
	SettlePart(ctx context.Context, whole uuid.UUID, part router.Hold, cost router.Amount, events []router.Event) error
}

// Config configures a Ledger.
type Config struct {
	Ledger router.Ledger // required; a Base
	// Nodes is how many processes draw at most; default 4. A slice is at most
	// 1/(2·Nodes) of what is left, so that many may draw and something stays.
	Nodes int
	// Calls is for how many calls of the size of the one that draws it a slice
	// is made at most; default 1000. The first slices are smaller. It bounds, for
	// each set of lines, what counts as spent, and was not, when a process dies, and
	// what is spent past a limit that another process lowers.
	Calls int
	// Life is how much later than the call that draws it a slice expires; default
	// 5 minutes. It is to be more than twice the time between calls of Expire.
	Life time.Duration
	// NewID makes ids that were never used; default UUIDv7.
	NewID func() uuid.UUID
}

// ErrBase is a ledger that no slices can be drawn from, or a nil.
var ErrBase = errors.New("lease: the ledger is no Base")

var errConfig = errors.New("lease: nodes, calls and life must not be negative")

var (
	_ router.Ledger   = (*Ledger)(nil)
	_ router.Recorder = (*Ledger)(nil)
)

// Ledger is a router.Ledger that admits calls from slices. It is safe for
// concurrent use, and has no goroutine of its own: slices are drawn by the calls
// that need them and given back by [Ledger.Expire] and [Ledger.Close]. All calls
// of one hold go to the same Ledger; another one knows what was admitted from a
// slice only when it is settled.
//
// The first call with some lines and caps goes to the ledger below; the more
// follow, the larger the slices. So do, at all times, calls for which no slice
// can be drawn: the last dollars go one by one.
type Ledger struct {
	base  Base
	nodes router.USD
	most  router.USD
	life  time.Duration
	newID func() uuid.UUID
	plain int // calls of a fund before its first slice

	mu     sync.Mutex
	calls  map[uuid.UUID]*call
	closed closedCalls
	funds  map[string]*fund
	slices map[*slice]struct{}                 // all that may hold something below
	on     map[router.Line]map[*slice]struct{} // the same by their lines
	shut   bool                                // no more slices are drawn
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
		// It fails only when the system has no randomness, which Go treats as fatal.
		l.newID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	return l, nil
}

// RecordsTo implements [router.Recorder].
func (l *Ledger) RecordsTo(store any) bool { return l.base.RecordsTo(store) }

// Balances implements [router.Ledger]. What is in slices is held, also what no
// call has of it.
func (l *Ledger) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	return l.base.Balances(ctx, lines)
}
