package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Abandon says what becomes of an attempt whose caller ends the call while it
// runs: the caller hung up, or the time is up that the caller set.
type Abandon uint8

// Every way.
const (
	// AbandonEstimate ends the attempt, and charges the endpoint's request fee and
	// the estimated prompt tokens at its price, at most what was held: the upstream
	// was asked, and nobody knows what it charges.
	AbandonEstimate Abandon = iota
	// AbandonVoid ends the attempt and charges nothing, so that whoever hangs up in
	// time asks for free.
	AbandonVoid
	// AbandonFinish lets the attempt go on to its own end, as if its caller were
	// still there, and charges its answer like any other. [Router.Decide] returns
	// when the attempt is over, so a caller whose own time is up may wait for as
	// long as an attempt takes.
	AbandonFinish
)

// String returns the way in a word: estimate, void or finish.
func (a Abandon) String() string {
	words := [...]string{"estimate", "void", "finish"}
	return words[min(int(a), len(words)-1)]
}

// MarshalText returns the word.
func (a Abandon) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (a *Abandon) UnmarshalText(text []byte) error {
	for known := range AbandonFinish + 1 {
		if known.String() == string(text) {
			*a = known
			return nil
		}
	}
	return fmt.Errorf("router: %.40q is none of estimate, void and finish", text)
}

// abandonedEvent ends the ID of an event that was charged for an abandoned attempt.
const abandonedEvent = "/abandoned"

// Abandoned reports whether the event is of an attempt whose caller ended the call
// while it ran, so that its cost and its tokens are estimates. Its ID says so,
// which every store keeps.
func (e *Event) Abandoned() bool { return strings.HasSuffix(e.ID, abandonedEvent) }

// abandon charges what an abandoned attempt is taken to have cost. The prompt is
// an estimate, and the hold a bound: where the two disagree the bound wins.
func (w *walk) abandon(ctx context.Context, rec *AttemptRecord) error {
	if w.router.cfg.Abandoned != AbandonEstimate {
		return nil
	}
	cost := priced(rec.Endpoint.Pricing.Cost(w.prompt, 0), rec.Credential)
	if w.money.held {
		held := w.money.hold.Amount
		cost.Credit = min(cost.Credit, held.Credit)
		cost.Total = min(cost.Total, held.Total)
	}
	if cost.Total == 0 {
		return nil
	}
	rec.Cost, rec.OwnCost, rec.Usage.InputTokens = cost.Credit, cost.BYOK(), w.prompt
	err := w.money.settle(ctx, w.call, nil)
	if err != nil { // nobody knows whether it was charged, so the hold decides
		rec.Cost, rec.OwnCost, rec.Usage.InputTokens = 0, 0, 0
	}
	return err
}

// hungUp reports whether a context ended before its time.
func hungUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
