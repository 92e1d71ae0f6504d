package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Abandon says what happens to an attempt whose caller ends the call while it runs:
// the caller hung up, or the caller's own deadline passed. The zero value is
// AbandonEstimate.
type Abandon uint8

// Every value of Abandon.
const (
	// AbandonEstimate ends the attempt. It charges the endpoint's request fee and
	// the estimated prompt tokens at the endpoint's price, at most what was held.
	// The charge is an estimate because the upstream was asked but reported no
	// usage.
	AbandonEstimate Abandon = iota
	// AbandonVoid ends the attempt and charges nothing. A caller that hangs up in
	// time is then never charged.
	AbandonVoid
	// AbandonFinish lets the attempt run to its own end and charges its answer like
	// any other. [Router.Decide] returns when the attempt is over, so a caller may
	// wait beyond its own deadline for as long as an attempt takes.
	AbandonFinish
)

// String returns estimate, void or finish.
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
// while it ran, so that its cost and its tokens are estimates. It reads the event's
// ID, which every store keeps.
func (e *Event) Abandoned() bool { return strings.HasSuffix(e.ID, abandonedEvent) }

// hungUp reports whether the context was cancelled, in contrast to a deadline that
// passed.
func hungUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
