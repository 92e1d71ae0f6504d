package router

import (
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Event is one billed attempt: what activity is made of. It never changes. Of a
// call whose hold expired it is what expiry posted, or took back.
type Event struct { //nolint:recvcheck // what it makes of itself is another one
	// ID is the call's generation id and the place of the attempt among the
	// billed ones, "gen-dec-…/0"; "gen-dec-…/abandoned" of an attempt whose caller
	// ended the call while it ran; "gen-dec-…/held" where expiry posted the hold
	// and "gen-dec-…/held/corrected" where its late owner took that back. The
	// same id is the same event.
	ID         string
	Admitted   time.Time // the call's, UTC: it counts on this day
	Principal  Principal
	Model      string // namespaced id
	Permaslug  string // with the dated suffix
	Endpoint   uuid.UUID
	Provider   string // display name
	Requests   int64  // 1 on the endpoint that answered (most), else 0; an abandoned call was not answered
	Prompt     int64  // tokens
	Completion int64
	Reasoning  int64
	Cached     int64
	Cost       Amount // Credit is what was charged
}

// at says where the event was.
func (e *Event) at(endpoint *Endpoint, m *Model, provider string) {
	e.Model, e.Permaslug, e.Endpoint, e.Provider = endpoint.Model, "", endpoint.ID, provider
	if m != nil {
		e.Permaslug = m.Permaslug
	}
}

// Posted is what a [Recorder] records when expiry posts a hold with the Event e:
// e at the cost of what was held.
func (e Event) Posted(held Amount) Event {
	e.Cost = held
	return e
}

// Corrected takes back what e adds: its counts and its cost are the negative of
// e's, all else is the same. Its ID is e's with "/corrected" behind it.
func (e Event) Corrected() Event {
	e.ID += "/corrected"
	e.Requests, e.Prompt, e.Completion = -e.Requests, -e.Prompt, -e.Completion
	e.Reasoning, e.Cached = -e.Reasoning, -e.Cached
	e.Cost = Amount{Credit: -e.Cost.Credit, Total: -e.Cost.Total}
	return e
}

// Events returns what activity is made of: an event for each billed attempt of
// a call that res answered, in the order of the attempts. Without a result there is
// none, but for the attempt that was charged because its caller ended the call. It
// only reads the call, so an interceptor may ask for them when the engine has
// answered.
func (c *Call) Events(res *Result) []Event {
	var events []Event
	answered := false // the endpoint that answered has its event
	for i := range c.Report.Attempts {
		a := &c.Report.Attempts[i]
		charged := a.Abandoned && a.Cost+a.OwnCost > 0
		if (res == nil || a.Class != "") && !charged {
			continue
		}
		e := Event{
			ID:         c.ID + "/" + strconv.Itoa(len(events)),
			Admitted:   c.Admitted.UTC(),
			Principal:  c.Principal,
			Prompt:     a.Usage.InputTokens,
			Completion: a.Usage.OutputTokens,
			Reasoning:  a.Usage.ReasoningTokens,
			Cached:     a.Usage.CachedTokens,
			Cost:       Amount{Credit: a.Cost, Total: a.Cost + a.OwnCost},
		}
		e.at(a.Endpoint, a.Model, a.Provider)
		switch {
		case charged:
			e.ID = c.ID + abandonedEvent
		case !answered && a.Endpoint == res.Endpoint:
			e.Requests, answered = 1, true
		}
		events = append(events, e)
	}
	return events
}
