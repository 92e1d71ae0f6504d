package proofs

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

const (
	clients    = 8
	operations = 30 // of each client
	maxHolds   = clients * operations
	most       = 20 // limit of each line
	patience   = 20 * time.Second
)

// asked is an operation of a client. Holds have numbers, and the number of a hold
// determines its lines.
type asked struct {
	verb   string // reserve, settle, void or balances
	hold   int
	amount router.USD
}

// answered is the result of an operation.
type answered struct {
	err      string // "", conflict, none, or refused
	refused  router.LimitError
	balances [2]balance
}

type balance struct{ spent, held router.USD }

// books is the whole state of a ledger. Its method step defines what each operation
// does, one at a time.
type books struct { //nolint:recvcheck // a step works on a copy
	lines [2]balance
	holds [maxHolds]struct {
		state  byte // 0 means that the hold is unknown
		amount int8
	}
}

const (
	open    = 1
	voided  = 2
	settled = 3
)

// linesOf returns the lines of a hold: the first, the second, or both.
func linesOf(hold int) []int { return [][]int{{0}, {1}, {0, 1}}[hold%3] }

// step returns the state after an operation, and its result.
func (b books) step(a asked) (books, answered) {
	if a.verb == "balances" {
		return b, answered{balances: b.lines}
	}
	h := &b.holds[a.hold]
	amount := router.USD(h.amount)
	switch {
	case a.verb == "void" && h.state == open:
		h.state = voided
		b.add(a.hold, 0, -amount)
	case a.verb == "void":
	case a.verb == "settle" && h.state == 0:
		return b, answered{err: "none"}
	case a.verb == "settle" && h.state == settled:
		if amount != a.amount {
			return b, answered{err: "conflict"}
		}
	case a.verb == "settle":
		if h.state == voided {
			amount = 0
		}
		b.add(a.hold, a.amount, -amount)
		h.state, h.amount = settled, int8(a.amount)
	case h.state == voided || h.state == settled:
		return b, answered{err: "conflict"}
	case a.amount > amount:
		added := a.amount - amount
		for i, line := range linesOf(a.hold) {
			if left := most - b.lines[line].spent - b.lines[line].held; added > left {
				return b, answered{err: "refused", refused: router.LimitError{Cap: i, Left: left}}
			}
		}
		b.add(a.hold, 0, added)
		h.state, h.amount = open, int8(a.amount)
	default:
		h.state = open
	}
	return b, answered{}
}

func (b *books) add(hold int, spent, held router.USD) {
	for _, line := range linesOf(hold) {
		b.lines[line].spent += spent
		b.lines[line].held += held
	}
}

func law() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return books{} },
		Step: func(state, input, output any) (bool, any) {
			next, says := state.(books).step(input.(asked)) //nolint:errcheck,forcetypeassert // the model's own
			return says == output.(answered), next          //nolint:errcheck,forcetypeassert // the model's own
		},
		Equal: func(a, b any) bool { return a == b },
	}
}

// history is one run of several clients on a ledger that several programs share.
type history struct {
	t       *testing.T
	ledgers []router.Ledger
	lines   [2]router.Line
	began   time.Time
	holds   atomic.Int64 // number of holds so far
	number  uint32       // of the history, which gives it lines and holds of its own

	mu   sync.Mutex
	done []porcupine.Operation
}

// run returns what the clients saw. The seed determines their operations.
func (h *history) run(seed uint64) []porcupine.Operation {
	h.began = time.Now()
	for i := range h.lines {
		h.lines[i] = router.Line{Owner: strconv.Itoa(int(h.number)), Window: strconv.Itoa(i)}
	}
	var all sync.WaitGroup
	for client := range clients {
		draw := rand.New(rand.NewPCG(seed, uint64(client)))
		all.Go(func() {
			for range operations {
				h.one(client, h.draw(draw))
			}
		})
	}
	all.Wait()
	return h.done
}

// draw draws the next operation, mostly on one of the latest holds, so that clients
// conflict.
func (h *history) draw(draw *rand.Rand) asked {
	a := asked{verb: "reserve", amount: router.USD(draw.IntN(4))}
	known := int(h.holds.Load())
	switch n := draw.IntN(10); {
	case n < 4 || known == 0:
		a.hold = int(h.holds.Add(1)) - 1
		return a
	case n < 5:
	case n < 7:
		a.verb = "settle"
	case n < 9:
		a.verb, a.amount = "void", 0
	default:
		return asked{verb: "balances"}
	}
	a.hold = max(known-1-draw.IntN(6), 0)
	return a
}

func (h *history) one(client int, a asked) {
	ledger := h.ledgers[client%len(h.ledgers)]
	call := time.Since(h.began)
	says, err := h.ask(ledger, a)
	end := time.Since(h.began)
	if err != nil {
		h.t.Errorf("client %d: %v", client, err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, porcupine.Operation{
		ClientId: client, Input: a, Output: says, Call: int64(call), Return: int64(end),
	})
}

// ask runs an operation and returns its result, or an error that a ledger must not
// return here.
func (h *history) ask(ledger router.Ledger, a asked) (says answered, err error) {
	ctx, id := h.t.Context(), uuid.UUID{}
	binary.BigEndian.PutUint32(id[:], h.number)
	binary.BigEndian.PutUint32(id[12:], uint32(a.hold)+1)
	amount := router.Amount{Credit: a.amount, Total: a.amount}
	switch a.verb {
	case "reserve":
		hold := router.Hold{ID: id, Amount: amount, Deadline: h.began.Add(time.Hour)}
		for _, line := range linesOf(a.hold) {
			hold.Lines = append(hold.Lines, h.lines[line])
			hold.Caps = append(hold.Caps, router.Cap{Line: h.lines[line], Max: most})
		}
		err = ledger.Reserve(ctx, hold)
	case "settle":
		err = ledger.Settle(ctx, id, amount)
	case "void":
		err = ledger.Void(ctx, id)
	default:
		var list []router.Balance
		if list, err = ledger.Balances(ctx, h.lines[:]); err != nil {
			return says, err
		}
		for i, b := range list {
			says.balances[i] = balance{b.Spent.Total, b.Held.Total}
		}
	}
	refused, limited := errors.AsType[*router.LimitError](err)
	switch {
	case limited:
		return answered{err: "refused", refused: *refused}, nil
	case errors.Is(err, router.ErrConflict):
		return answered{err: "conflict"}, nil
	case errors.Is(err, router.ErrNoHold):
		return answered{err: "none"}, nil
	}
	return says, err
}

// seedOf returns SIGNALBOX_TEST_SEED, or a random seed, and logs it.
func seedOf(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SIGNALBOX_TEST_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("SIGNALBOX_TEST_SEED=%d", seed)
	return seed
}

// histories returns how many histories of each ledger to check.
func histories(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SIGNALBOX_TEST_HISTORIES")
	if text == "" {
		return 6
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// Ledgers are linearizable for the clients of two programs: there is an order of the
// operations, each between its start and its end, in which step returns the results
// that the clients saw.
func TestLedgersAreLinearizable(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, e engine) {
		t.Helper()
		seed := seedOf(t)
		sure := 0
		for n := range histories(t) {
			h := &history{t: t, ledgers: []router.Ledger{e.one.Ledger, e.other.Ledger}, number: uint32(n) + 1}
			done := h.run(seed + uint64(n))
			verdict := porcupine.CheckOperationsTimeout(law(), done, patience)
			require.NotEqual(t, porcupine.Illegal, verdict, "history %d", n)
			if verdict == porcupine.Ok {
				sure++
			}
		}
		assert.Positive(t, sure, "no history was looked through in time")
	})
}

// stale is a broken ledger that checks limits and adds in two steps.
type stale struct{ router.Ledger }

func (s stale) Reserve(ctx context.Context, h router.Hold) error {
	list, err := s.Balances(ctx, h.Lines)
	if err != nil {
		return err
	}
	for i, c := range h.Caps {
		if left := c.Max - list[i].Spent.Credit - list[i].Held.Credit; h.Amount.Credit > left {
			return &router.LimitError{Cap: i, Left: left}
		}
	}
	runtime.Gosched()
	h.Caps = nil
	return s.Ledger.Reserve(ctx, h)
}

// lagging is a broken ledger that returns old balances.
type lagging struct {
	router.Ledger

	mu   *sync.Mutex
	last *[]router.Balance
}

func (l lagging) Balances(ctx context.Context, lines []router.Line) ([]router.Balance, error) {
	now, err := l.Ledger.Balances(ctx, lines)
	l.mu.Lock()
	defer l.mu.Unlock()
	if *l.last == nil {
		*l.last = now
	}
	before := *l.last
	*l.last = now
	return before, err
}

// The check can fail: it finds the ledgers that are not linearizable.
func TestBrokenLedgersAreNotLinearizable(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(router.Ledger) router.Ledger{
		"stale":   func(l router.Ledger) router.Ledger { return stale{l} },
		"lagging": func(l router.Ledger) router.Ledger { return lagging{l, &sync.Mutex{}, new([]router.Balance)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := seedOf(t)
			for n := range 200 {
				ledger := broken(inMemory(t).one.Ledger)
				h := &history{t: t, ledgers: []router.Ledger{ledger}, number: uint32(n) + 1}
				if porcupine.CheckOperationsTimeout(law(), h.run(seed+uint64(n)), patience) == porcupine.Illegal {
					return
				}
			}
			t.Error("it was never seen to break")
		})
	}
}
