package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// decide serves a request for decisions in the dialect of the route's door.
func (x *exchange) decide(ctx context.Context) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	timeout, err := x.timeLeft()
	if err != nil {
		return err
	}
	session, err := sessionID(x.r.Header["X-Session-Id"])
	if err != nil {
		return err
	}
	dry, err := dryRun(x.r.Header[x.s.dryRunHeader])
	if err != nil {
		return err
	}
	once, err := x.idempotency(body)
	if err != nil {
		return err
	}
	door := x.door()
	if err := x.hold(door.copies() * int64(len(body))); err != nil {
		return err
	}
	var req *systemone.Request
	var reply reply
	err = x.parse(len(body), func() (err error) {
		req, reply, err = door.decode(systemone.Decoder{Dialect: x.s.dialect, Limits: x.s.Limits, SessionID: session}, body)
		return err
	})
	if err != nil {
		return err
	}
	if more := decodedBytes(req) - int64(len(body)); more > 0 {
		if err := x.hold(more); err != nil {
			return err
		}
	}
	x.call = &router.Call{
		Request: req, Principal: x.principal, RequestID: x.requestID,
		Timeout: timeout, UsualTimeout: x.s.timeout - x.s.timeout/bodyShare, DryRun: dry, Idempotency: once,
		Trace: traceContext(x.r.Header), Route: x.r.URL.Path,
	}
	if x.s.Limits == x.s.Router.Limits() {
		x.call.Validated = req
	}
	res, err := x.s.Router.Decide(ctx, x.call)
	if err != nil {
		return err
	}
	if dry {
		x.replyDryRun()
		return nil
	}
	x.out = reply(x.out, &res.Response)
	if n := len(x.out) - 1; n > 0 && x.out[n] == '}' {
		x.out = append(x.appendMetadata(x.out[:n], res), '}')
	}
	return nil
}

// The memory that the parts of a decoded request take until it is answered, in bytes:
// their structs, names and answers. The texts of a request lie in its body.
const (
	questionBytes = 512
	partBytes     = 128 // of an option, a level or a condition
)

// decodedBytes estimates the memory that a request takes beside its body. For a body of
// short names it is several times the body's size.
func decodedBytes(r *systemone.Request) int64 {
	n := len(r.Questions) * questionBytes
	for i := range r.Questions {
		n += (len(r.Questions[i].Options) + len(r.Questions[i].Levels)) * partBytes
	}
	for i := range r.Models {
		if when := r.Models[i].When; when != nil {
			n += conditions(when) * partBytes
		}
	}
	return int64(n)
}

// conditions returns how many conditions there are, those within others too.
func conditions(c *systemone.Condition) int {
	n := 1
	lists := [][]systemone.Condition{c.Any, c.All, nil}
	if c.AtLeast != nil {
		lists[2] = c.AtLeast.Conditions
	}
	for _, list := range lists {
		for i := range list {
			n += conditions(&list[i])
		}
	}
	return n
}

// bodyShare is the divisor for the part of the surface's deadline that reading the body
// may take: one tenth. Time beyond that is the caller's fault. An endpoint that then
// runs out of time is not counted as failed.
const bodyShare = 10

// dryRun reads the header that asks for a plan without a decision. Any word but true
// and false is refused, because a caller that meant true must not be charged.
func dryRun(values []string) (bool, error) {
	dry := false
	for _, v := range values {
		switch v = strings.TrimSpace(v); {
		case strings.EqualFold(v, "true"):
			dry = true
		case v != "" && !strings.EqualFold(v, "false"):
			return false, badRequest("dry-run", "the dry run header must be true or false")
		}
	}
	return dry, nil
}

// replyDryRun replies with the plan and its greatest cost instead of answers.
func (x *exchange) replyDryRun() {
	x.out = append(x.out, `{"id":`...)
	x.out = appendJSON(x.out, x.call.ID)
	x.out = append(x.out, `,"dry_run":true`...)
	x.out = append(x.appendMetadata(x.out, nil), '}')
}

// timeLeft returns what is left of the surface's deadline, which begins with the
// request because its clients count from there. 0 means that the router's timeout
// applies.
func (x *exchange) timeLeft() (time.Duration, error) {
	if x.s.timeout <= 0 {
		return 0, nil
	}
	used := max(x.s.Now().Sub(x.began), 0) // the clock may jump backwards
	if used >= x.s.timeout {
		return 0, context.DeadlineExceeded
	}
	return x.s.timeout - used, nil
}

// traceContext returns the headers of W3C Trace Context, unchecked. By that standard
// several traceparent headers are none, and several of tracestate are one list.
func traceContext(h http.Header) router.TraceContext {
	parent := h["Traceparent"]
	if len(parent) != 1 {
		return router.TraceContext{}
	}
	return router.TraceContext{Parent: parent[0], State: strings.Join(h["Tracestate"], ",")}
}

// sessionID returns the session named in a header. Two different sessions are refused.
func sessionID(values []string) (string, error) {
	var found string
	for _, v := range values {
		if found != "" && v != found {
			return "", badRequest("session_id", "two different x-session-id headers were sent")
		}
		found = v
	}
	return found, nil
}
