package signalbox_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// fate scripts the failures of one call. It travels in the call's context, so that
// concurrent calls do not share it.
type fate struct {
	upstream map[string]string // what a provider does; "own " before those asked with the caller's credential
	// How each method of the ledger fails: "" for not at all, else undone or done.
	reserve, settle, void string
	times                 int  // how often settle and void fail; 0 is always
	settles, voids        int  // tries, under the ledger's lock
	left                  bool // the caller hung up, and was not answered
	tokens                int64
	hangUp                context.CancelFunc
	later                 func() // time passes while the upstream thinks
}

const (
	undone = "undone" // the method failed, and has changed nothing
	done   = "done"   // the method has acted, and its reply was lost
)

// settling returns how the next Settle fails, and voiding how the next Void does.
func (f *fate) settling() string { return f.next(f.settle, &f.settles) }
func (f *fate) voiding() string  { return f.next(f.void, &f.voids) }

func (f *fate) next(how string, tries *int) string {
	*tries++
	if f.times > 0 && *tries > f.times {
		return ""
	}
	return how
}

type fateKey struct{}

func fateOf(ctx context.Context) *fate {
	if f, ok := ctx.Value(fateKey{}).(*fate); ok {
		return f
	}
	return &fate{}
}

// fated is a provider that answers as the call's fate says.
type fated struct{ slug string }

func (p fated) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	f, name := fateOf(ctx), p.slug
	if a.Credential != "" {
		name = "own " + name
	}
	reply := router.Reply{Usage: systemone.Usage{InputTokens: f.tokens, OutputTokens: f.tokens / 3}}
	for _, q := range a.Request.Questions {
		reply.Answers = append(reply.Answers, systemone.Answer{Name: q.Name, Kind: q.Kind, Noul: 0.5})
	}
	refused := func(status int, class router.Class) (router.Reply, error) {
		return router.Reply{}, &router.UpstreamError{Status: status, Class: class, Err: errDown}
	}
	switch f.upstream[name] {
	case "500":
		return refused(http.StatusInternalServerError, router.ProviderUnavailable)
	case "429":
		return refused(http.StatusTooManyRequests, router.RateLimitExceeded)
	case "400":
		return refused(http.StatusBadRequest, router.InvalidRequest)
	case "not sent":
		return router.Reply{}, router.ErrNotSent
	case "panic":
		panic("a provider's bug")
	case "bad":
		reply.Answers = nil
	case "dear":
		reply.Usage.InputTokens, reply.Usage.OutputTokens = 50_000, 50_000
	case "late":
		f.later()
	case "hang up": // and the answer comes all the same
		f.hangUp()
	case "give up":
		f.left = true
		f.hangUp()
		return router.Reply{}, &router.UpstreamError{Err: ctx.Err()}
	}
	return reply, nil
}

func outcomes() []string {
	return []string{"200", "200", "200", "200", "200", "200", "dear", "bad", "500", "429", "400", "not sent", "panic", "late", "hang up", "give up"}
}

var errLedger = errors.New("the ledger cannot be reached")

// lossyLedger fails where a call's fate says, and keeps its own books of what the
// ledger below has done.
type lossyLedger struct {
	router.Ledger

	mu    sync.Mutex
	holds map[uuid.UUID]router.Hold // the open ones
	stuck map[uuid.UUID]bool        // holds that the router could not close
	lines map[router.Line]bool      // all lines that were ever used
	// booked is what was settled and confirmed. lost is what was settled with the
	// reply lost, or charged by expiry because the router could not close the hold.
	booked, lost map[router.Line]router.Amount
	left         map[router.Line]router.Amount // booked of callers who left
	lostCalls    map[router.Line]int64         // on the first line of each
}

func newLossyLedger(inner router.Ledger) *lossyLedger {
	return &lossyLedger{
		Ledger: inner, holds: map[uuid.UUID]router.Hold{}, stuck: map[uuid.UUID]bool{}, lines: map[router.Line]bool{},
		booked: map[router.Line]router.Amount{}, lost: map[router.Line]router.Amount{}, left: map[router.Line]router.Amount{}, lostCalls: map[router.Line]int64{},
	}
}

func plus(a, b router.Amount) router.Amount {
	return router.Amount{Credit: a.Credit + b.Credit, Total: a.Total + b.Total}
}

// enter adds a nonzero amount to every line.
func enter(books map[router.Line]router.Amount, lines []router.Line, amount router.Amount) {
	for _, line := range lines {
		if amount != (router.Amount{}) {
			books[line] = plus(books[line], amount)
		}
	}
}

func (l *lossyLedger) Reserve(ctx context.Context, h router.Hold) error {
	f := fateOf(ctx)
	if f.reserve == undone {
		return errLedger
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.Ledger.Reserve(ctx, h); err != nil {
		return err
	}
	l.holds[h.ID] = h
	for _, line := range h.Lines {
		l.lines[line] = true
	}
	if f.reserve == done {
		return errLedger
	}
	return nil
}

func (l *lossyLedger) Settle(ctx context.Context, id uuid.UUID, cost router.Amount) error {
	return l.settle(ctx, id, cost, func() error { return l.Ledger.Settle(ctx, id, cost) })
}

func (l *lossyLedger) settle(ctx context.Context, id uuid.UUID, cost router.Amount, do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := fateOf(ctx)
	how := f.settling()
	if how == undone {
		l.stuck[id] = true
		return errLedger
	}
	h, open := l.holds[id]
	if err := do(); err != nil {
		if f.settle == done && f.settles > 1 { // it was settled, and is forgotten: expiry was told of a day far ahead
			l.lose(h, cost, !f.left)
			delete(l.holds, id)
		}
		return err
	}
	switch {
	case how == done && f.times > 0:
		return errLedger // the next try is booked
	case how == done && open:
		l.lose(h, cost, !f.left)
	case how == "":
		enter(l.booked, h.Lines, cost)
		if f.left {
			enter(l.left, h.Lines, cost)
		}
	}
	delete(l.holds, id)
	delete(l.stuck, id)
	if how == done {
		return errLedger
	}
	return nil
}

// lose enters what a call spent that the router does not know of, and whether the
// call counts as a request.
func (l *lossyLedger) lose(h router.Hold, amount router.Amount, counts bool) {
	enter(l.lost, h.Lines, amount)
	if counts {
		l.lostCalls[h.Lines[0]]++
	}
}

func (l *lossyLedger) Void(ctx context.Context, id uuid.UUID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	how := fateOf(ctx).voiding()
	if how == undone {
		l.stuck[id] = true
		return errLedger
	}
	if err := l.Ledger.Void(ctx, id); err != nil {
		return err
	}
	delete(l.holds, id)
	delete(l.stuck, id)
	if how == done {
		return errLedger
	}
	return nil
}

func (l *lossyLedger) Expire(ctx context.Context, now time.Time, limit int, policy router.Expiry) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, h := range l.holds {
		if h.Deadline.Before(now) {
			l.lose(h, h.Amount, true)
			delete(l.holds, id)
			delete(l.stuck, id)
		}
	}
	return l.Ledger.Expire(ctx, now, limit, policy)
}

// expected returns the balance that every used line must have when all calls are
// over.
func (l *lossyLedger) expected() map[router.Line]router.Balance {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := map[router.Line]router.Amount{}
	for id := range l.stuck {
		enter(held, l.holds[id].Lines, l.holds[id].Amount)
	}
	all := map[router.Line]router.Balance{}
	for line := range l.lines {
		all[line] = router.Balance{Spent: plus(l.booked[line], l.lost[line]), Held: held[line]}
	}
	return all
}

// recordingLedger is a lossyLedger that keeps activity as well.
type recordingLedger struct {
	*lossyLedger
	router.Recorder
}

func (l recordingLedger) SettleWith(ctx context.Context, id uuid.UUID, cost router.Amount, events []router.Event) error {
	return l.settle(ctx, id, cost, func() error { return l.Recorder.SettleWith(ctx, id, cost, events) })
}
