package router

import (
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Event is one billed attempt, from which activity is built. It never changes.
// Where a call's hold expired, it is what expiry charged, or the correction of that
// charge.
type Event struct { //nolint:recvcheck // methods that return another Event take a value
	// ID identifies the event: equal IDs are the same event. It is the call's
	// generation id and the index among the billed attempts, "gen-dec-…/0".
	// "gen-dec-…/abandoned", or "gen-dec-…/1/abandoned" behind others, is an attempt
	// whose caller ended the call while it ran.
	// "gen-dec-…/held" is the charge of an expired hold, and
	// "gen-dec-…/held/corrected" takes that charge back after a late settlement.
	ID         string
	Admitted   time.Time // the call's, in UTC; the event counts on this day
	Principal  Principal
	Model      string // namespaced id
	Permaslug  string // with the dated suffix
	Endpoint   uuid.UUID
	Provider   string // display name
	Requests   int64  // 1 for one attempt of an answered call, else 0
	Prompt     int64  // tokens
	Completion int64
	Reasoning  int64
	Cached     int64
	Cost       Amount // Credit is what was charged
	// Reason is why the leg of the attempt was asked. It is "" in the charge of an
	// expired hold, which may be for several legs, and in events recorded before it
	// existed.
	Reason LegReason
}

// at sets the event's model, endpoint and provider.
func (e *Event) at(endpoint *Endpoint, m *Model, provider string) {
	e.Model, e.Permaslug, e.Endpoint, e.Provider = endpoint.Model, "", endpoint.ID, provider
	if m != nil {
		e.Permaslug = m.Permaslug
	}
}

// Posted returns e at the cost of what was held. A [Recorder] records it when
// expiry charges a hold with the Event e.
func (e Event) Posted(held Amount) Event {
	e.Cost = held
	return e
}

// Corrected returns the event that takes e back. Its counts and its cost are the
// negatives of e's, its ID is e's with "/corrected" appended, and all else is
// equal.
func (e Event) Corrected() Event {
	e.ID += "/corrected"
	e.Requests, e.Prompt, e.Completion = -e.Requests, -e.Prompt, -e.Completion
	e.Reasoning, e.Cached = -e.Reasoning, -e.Cached
	e.Cost = Amount{Credit: -e.Cost.Credit, Total: -e.Cost.Total}
	return e
}

// Events returns one event for each billed attempt of a call, in the order of the
// legs and their attempts. The request counts for the endpoint that answered most;
// where its answers were remembered, for the first that was asked. A nil res is a call
// that failed: it has events only if its caller ended it. Events only reads the call, so an interceptor may use it
// after the engine has answered.
func (c *Call) Events(res *Result) []Event {
	var events []Event
	request := -1 // index of the event that counts the request
	var by *Endpoint
	for _, l := range c.Report.Legs {
		for i := range l.Attempts {
			a := &l.Attempts[i]
			if !a.Billed {
				continue
			}
			e := c.event(a, l.Reason)
			e.ID = c.eventID(len(events), a.Abandoned)
			if res != nil && !a.Abandoned && (request < 0 || by != res.Endpoint && a.Endpoint == res.Endpoint) {
				request, by = len(events), a.Endpoint
			}
			events = append(events, e)
		}
	}
	if request >= 0 {
		events[request].Requests = 1
	}
	return events
}

// event returns the event of an attempt, without an ID.
func (c *Call) event(a *AttemptRecord, why LegReason) Event {
	e := Event{
		Admitted:   c.Admitted.UTC(),
		Principal:  c.Principal,
		Reason:     why,
		Prompt:     a.Usage.InputTokens,
		Completion: a.Usage.OutputTokens,
		Reasoning:  a.Usage.ReasoningTokens,
		Cached:     a.Usage.CachedTokens,
		Cost:       Amount{Credit: a.Cost, Total: a.Cost + a.OwnCost},
	}
	e.at(a.Endpoint, a.Model, a.Provider)
	return e
}

// eventID returns the ID of a call's n-th event. That of an abandoned attempt ends
// in abandonedEvent.
func (c *Call) eventID(n int, abandoned bool) string {
	switch {
	case !abandoned:
		return c.ID + "/" + strconv.Itoa(n)
	case n == 0:
		return c.ID + abandonedEvent
	}
	return c.ID + "/" + strconv.Itoa(n) + abandonedEvent
}
