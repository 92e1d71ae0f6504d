package router

import (
	"context"
	"encoding/json"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Provider is one upstream service. Implementations must be safe for
// concurrent use, honour ctx, never retry (the router does), send nothing
// that is not in the [Attempt], and classify every failure with an
// [*UpstreamError]. They report answers as the upstream gave them: the router
// checks and repairs. router/routertest proves an implementation.
type Provider interface {
	Decide(ctx context.Context, a Attempt) (Reply, error)
}

// Attempt is what one call of a provider needs. It must not be changed.
type Attempt struct {
	// Request carries the state and the questions to answer. Its Model,
	// Models, Preset, Provider, SessionID, Trace and User are empty: they stay
	// here. The state has its parts unwrapped unless the endpoint takes parts.
	// What is null in it is nil.
	Request *systemone.Request
	Model   string          // the upstream's name of the model
	Options json.RawMessage // the caller's options for this provider, an object; nil for none
	User    string          // keyed hash of the caller's user; "" unless the endpoint supports it
	// Credential is the caller's own, to be used in place of the operator's;
	// "" for the operator's.
	Credential Secret
	// RequestID ties the upstream's log to ours; visible ASCII.
	RequestID string
	Deadline  time.Time // also ctx's
}

// Uncounted names the counts that a usage is without: absent or null, and not 0.
// The router estimates those that the endpoint has a price for, and both where
// both are missing.
type Uncounted struct{ Input, Output bool }

// Reply is what an upstream answered, unchecked.
type Reply struct {
	// Answers as given: confidence is the upstream's own figure, legends are
	// ignored, distributions may be in any order.
	Answers systemone.Answers
	// Refused names the questions that the upstream declined to answer, in a
	// dialect that has refusals. A question in neither list is a bad reply.
	Refused []string
	// Usage holds the upstream's own counts; Usage.Cost is what it says that
	// it charged, "" when it does not say.
	Usage systemone.Usage
	// Uncounted says which counts of Usage the upstream did not give. The zero
	// value says that it gave both: a 0 is then a count, and costs nothing.
	Uncounted Uncounted
	ID        string // the upstream's id of the reply, "" for none
	Model     string // the upstream's name of what answered, "" for none
}
