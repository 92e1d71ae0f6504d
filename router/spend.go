package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// holdGrace is how long after the call's deadline expiry may close its hold. By
	// then the call has closed it, or has given up.
	holdGrace = 30 * time.Second
	// settleTime is the total time for closing a hold, with all retries, even after
	// the call's own deadline.
	settleTime = 10 * time.Second
)

var errCap = errors.New("router: the ledger refused for a cap that the hold does not have")

// reservation is the one hold of a call, with the budgets that limit it. Its amount
// covers at every moment what the answers so far cost and the most that each walk
// under way may cost, and it is settled once, when all walks have ended. So all legs
// of a call are charged in one transaction. The zero value holds nothing and
// refuses nothing; it is for calls without a principal and for routers without a
// ledger. Walks may use it at once.
type reservation struct {
	router   *Router
	call     *Call
	counts   bool     // there are lines to count on
	recorder Recorder // the ledger, where it records what the call uses
	hold     Hold
	first    [owners]int // index of each owner's first line; -1 where it has none
	budgets  []*Budget   // those of the hold's caps, in their order
	held     bool        // the ledger may have the hold, and it is open
	made     bool        // the ledger has made the hold
	unsure   bool        // the last request to the ledger failed

	ceiling *Budget // of the request itself, or nil
	mu      sync.Mutex
	spent   Amount // what the attempts so far cost
	taken   Amount // what the walks under way hold
}

// prepare prepares the hold of a call. It has a line for every owner and every
// window, so that a limit set later counts earlier spending.
func (s *reservation) prepare(r *Router, c *Call, now time.Time) {
	s.router, s.call, s.ceiling = r, c, ceilingOf(c.Request)
	if r.cfg.Ledger == nil || c.Principal == (Principal{}) {
		return
	}
	lines, first := linesOf(c.Principal, r.windows.of(c.Admitted))
	if len(lines) == 0 {
		return
	}
	s.counts, s.first = true, first
	s.hold = Hold{ID: c.holdID, Lines: lines, Deadline: r.closedBy(c, now)}
	s.limit()
	s.record(c)
}

// linesOf returns all lines of a principal, and the index of each owner's first
// line: -1 where it has none.
func linesOf(p Principal, windows *windows) (lines []Line, first [owners]int) {
	var buffer [256]byte
	var ends [owners]int
	text := buffer[:0]
	for o := range Owner(owners) {
		text = o.append(text, p)
		ends[o] = len(text)
	}
	names := string(text) // one string for all owners, to allocate once
	lines = make([]Line, 0, owners*intervals)
	begin := 0
	for o, end := range ends {
		first[o] = -1
		if end > begin {
			first[o] = len(lines)
		}
		for i := range windows.names {
			if end > begin {
				lines = append(lines, Line{Owner: names[begin:end], Window: windows.names[i]})
			}
		}
		begin = end
	}
	return lines, first
}

// limit turns the call's budgets into caps, in the order in which they are checked.
// It omits those of owners that the principal does not have.
func (s *reservation) limit() {
	s.versions()
	s.budgets, s.hold.Caps = nil, nil
	budgets := s.call.Budgets
	if len(budgets) == 0 {
		return
	}
	var room [16]uint64
	places := room[:0] // each budget's sort key, with its index in the low bits
	for i := range budgets {
		if b := &budgets[i]; b.Owner < owners && s.first[b.Owner] >= 0 {
			order := uint64(b.Check.Order)<<16 | uint64(b.Owner)<<8 | uint64(b.Interval)
			places = append(places, order<<32|uint64(i))
		}
	}
	slices.Sort(places)
	s.budgets, s.hold.Caps = make([]*Budget, len(places)), make([]Cap, len(places))
	for i, place := range places {
		b := &budgets[uint32(place)] //nolint:gosec // the index
		line := s.hold.Lines[s.first[b.Owner]+int(b.Interval)%intervals]
		s.budgets[i], s.hold.Caps[i] = b, Cap{Line: line, Max: b.Max, BYOK: b.BYOK}
	}
}

// free checks what a call that costs nothing needs of the ledger.
func (s *reservation) free(ctx context.Context) error {
	if !s.counts {
		return nil
	}
	return s.reach(ctx)
}

// raise makes the hold, or raises it, for a candidate. It returns the limit that
// refuses it.
func (s *reservation) raise(ctx context.Context, amount Amount, by *Candidate, provider string) (*LimitError, error) {
	had, before := s.held, s.hold.Amount
	s.hold.Amount = amount
	if s.recorder != nil {
		s.hold.Event.at(by.Endpoint, by.Model(), provider)
	}
	err := s.ask(ctx)
	if err == nil {
		s.made = true
		s.call.Report.Held = amount
		s.router.reached.note(s.router.cfg.Now())
		return nil, nil //nolint:nilnil // nothing refuses it
	}
	s.hold.Amount = before
	refused, ok := errors.AsType[*LimitError](err)
	if !ok {
		s.unsure = s.held
		return nil, err
	}
	s.held = had
	if refused.Cap < 0 || refused.Cap >= len(s.budgets) {
		return nil, errCap
	}
	return refused, nil
}

// priced returns a price as it counts in the ledger. With the caller's own
// credential nothing is charged here.
func priced(price USD, own *Credential) Amount {
	if own != nil {
		return Amount{Total: price}
	}
	return Amount{Credit: price, Total: price}
}

// settle charges what is billed of a call, and records it where the ledger can. It
// does so even when the caller has hung up, because the money is spent. It retries
// for settleTime and then leaves the hold to expire. A nil res is a call that its
// caller ended, with the error why.
func (s *reservation) settle(ctx context.Context, c *Call, res *Result, why error) error {
	cost, last := s.billed(&c.Report)
	s.overrun(&c.Report, last, cost)
	switch {
	case !s.made && res == nil:
		return nil
	case !s.made: // what was billed is free; void gives back what the ledger may hold
		return c.once.keep(ctx, c, res)
	}
	s.held = false
	settle := func(ctx context.Context) error { return s.router.cfg.Ledger.Settle(ctx, s.hold.ID, cost) }
	var events []Event
	if s.recorder != nil {
		events = c.Events(res)
		settle = func(ctx context.Context) error { return s.recorder.SettleWith(ctx, s.hold.ID, cost, events) }
	}
	if o := c.once; o != nil {
		k := o.kept(c, res, why)
		settle = func(ctx context.Context) error { return o.replies.SettleKept(ctx, k, cost, events) }
		o.spent = true
	}
	err := repeat(ctx, s.router.cfg.Seed, settle)
	switch {
	case err == nil && s.recorder != nil:
		c.recorder = s.recorder
	case c.once != nil && errors.Is(err, ErrConflict):
		s.held = true // so that void gives it back: another call has the claim and is charged
	}
	return err
}

// billed returns what the billed attempts cost together, and the endpoint of the
// last of them.
func (s *reservation) billed(report *Report) (cost Amount, last *Endpoint) {
	for rec := range report.Attempts() {
		if rec.Billed {
			cost = cost.plus(Amount{Credit: rec.Cost, Total: rec.Cost + rec.OwnCost})
			last = rec.Endpoint
		}
	}
	return cost, last
}

// void gives back what is still held, with retries like a settlement. Where the
// ledger has just failed to reserve, it tries only once, so that the caller gets
// the error at once. A hold that cannot be given back expires.
func (s *reservation) void(ctx context.Context) (err error) {
	if !s.held {
		return nil
	}
	s.held = false
	if o := s.call.once; o != nil {
		defer func() { o.spent = o.spent || err != nil }() // expiry may charge the hold
	}
	void := func(ctx context.Context) error { return s.router.cfg.Ledger.Void(ctx, s.hold.ID) }
	if !s.unsure {
		return repeat(ctx, s.router.cfg.Seed, void)
	}
	ctx, end := withSettleTime(ctx)
	defer end()
	return void(ctx)
}

// refusal returns the error for a caller whose call had no room in a budget.
func (b *Budget) refusal() *Error {
	if b.Refusal != nil {
		return new(*b.Refusal)
	}
	return &Error{Class: PaymentRequired}
}
