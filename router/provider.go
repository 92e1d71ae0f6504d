package router

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Provider is one upstream service. An implementation must be safe for concurrent
// use, honour ctx, never retry (the router does), send nothing that is not in the
// [Attempt], and return every failure as an [*UpstreamError]. It returns answers as
// the upstream gave them, because the router checks and repairs them.
// router/routertest tests an implementation.
//
// Any other error counts as [ProviderUnavailable]. Logs then have its type only,
// because its text may hold secrets.
type Provider interface {
	Decide(ctx context.Context, a Attempt) (Reply, error)
}

// Attempt is everything that one call of a provider needs. The provider must not
// change it.
type Attempt struct {
	// Request carries the state and the questions to answer. Its Model, Models,
	// Preset, Provider, SessionID, Trace and User are empty, because they are not
	// for the upstream. Parts of the state are unwrapped unless the endpoint takes
	// parts. Raw JSON that is null is nil.
	Request *systemone.Request
	Model   string          // the upstream's name of the model
	Options json.RawMessage // the caller's options for this provider, an object; nil for none
	User    string          // keyed hash of the caller's user; "" unless the endpoint supports it
	// Credential is the caller's own, to be used in place of the operator's; "" is
	// the operator's.
	Credential Secret
	// RequestID links the upstream's log to the router's. It is visible ASCII.
	RequestID string
	Deadline  time.Time // also ctx's
	// Trace is the trace context of the attempt. A provider sends it only where its
	// operator says so, because it tells the upstream which calls belong together.
	Trace TraceContext
}

// TraceContext is the position of a call in a distributed trace, as the two headers of
// W3C Trace Context. The zero value is none.
type TraceContext struct{ Parent, State string } // traceparent and tracestate

// Uncounted names the counts that a usage lacks: they are absent or null, which is
// not 0. The router estimates those for which the endpoint has a price, and both
// where both are missing.
type Uncounted struct{ Input, Output bool }

// Refusal is a question that an upstream declined to answer.
type Refusal struct {
	Question string // its name
	// Text is what the upstream said, of which at most 4 KiB are kept; "" for
	// nothing. It may quote the state, so it must not be logged.
	Text string
	// Safety reports that, as the dialect says, the question was refused for
	// safety.
	Safety bool
}

const (
	maxRefusal     = 4 << 10 // bytes of its text
	refusedSilence = "The model declined to answer this question."
)

// said returns the text of an answer that is a refusal. Where the upstream said
// nothing it is a general sentence, because an answer without a text is no refusal.
func (r *Refusal) said() string {
	text := r.Text[:min(len(r.Text), maxRefusal)]
	return cmp.Or(strings.ToValidUTF8(text, ""), refusedSilence)
}

// Reply is an upstream's unchecked answer.
type Reply struct {
	// Answers as the upstream gave them. Confidence is the upstream's own figure,
	// legends are ignored, and distributions may be in any order.
	Answers systemone.Answers
	// Refused holds the questions that the upstream declined to answer, in a
	// dialect that has refusals. A question in neither list is a bad reply.
	Refused []Refusal
	// Usage holds the upstream's own counts. Usage.Cost is what it says that it
	// charged, "" when it does not say.
	Usage systemone.Usage
	// Uncounted says which counts of Usage the upstream did not give. The zero
	// value says that it gave both; a count of 0 then costs nothing.
	Uncounted Uncounted
	ID        string // the upstream's id of the reply, "" for none
	Model     string // the upstream's name of the model that answered, "" for none
}
