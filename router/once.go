package router

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// repliesPerKey is how many replies are kept for one API key.
const repliesPerKey = 5000

var (
	errInFlight = errors.New("router: a call with the same idempotency key is in flight")
	errKept     = errors.New("router: the call with the same idempotency key failed and was charged")
)

// once is a call's claim of an idempotency key, with which it makes the reply.
type once struct {
	router  *Router
	replies Replies
	key     ReplyKey
	hold    uuid.UUID
	// spent says that the claim is not released: the reply is kept, or the call may
	// have been charged although the ledger failed. In the latter case the claim
	// ends at its deadline.
	spent bool
}

// detach returns a context for a call with an idempotency key that the caller does
// not cancel. The caller's hang-up then ends only the wait for another call's
// reply.
func (r *Router) detach(ctx context.Context, c *Call) context.Context {
	if _, ok := r.cfg.Ledger.(Replies); c.Idempotency == nil || c.DryRun || !ok {
		return ctx
	}
	c.gone = ctx.Done()
	return context.WithoutCancel(ctx)
}

// once answers a call with an idempotency key, by the kept reply or by a reply of
// its own, which is then kept.
func (r *Router) once(ctx context.Context, c *Call) (res *Result, err error) {
	if !VisibleASCII(c.Idempotency.Key) {
		return nil, &Error{Class: InvalidRequest, Issues: []systemone.Issue{{
			Path: "idempotency-key", Message: "must be 1 to 128 visible ASCII characters",
		}}}
	}
	replies, ok := r.cfg.Ledger.(Replies)
	if !ok {
		return r.answer(ctx, c)
	}
	o := &once{
		router: r, replies: replies, hold: c.holdID,
		key: ReplyKey{Account: c.Principal.Account, KeyHash: callerOf(c.Principal), Key: c.Idempotency.Key},
	}
	switch kept, err := o.claim(ctx, c); {
	case errors.Is(err, errors.ErrUnsupported):
		return r.answer(ctx, c)
	case err != nil:
		return nil, err
	case kept != nil:
		return r.replay(c, kept)
	}
	c.once = o
	defer func() { err = withCause(err, o.release(ctx, err)) }()
	return r.answer(ctx, c)
}

// callerOf names a caller within an account, so that no caller gets the reply of another:
// by the key or, where there is none, by the workspace and the member.
func callerOf(p Principal) string {
	if p.KeyHash != "" {
		return p.KeyHash
	}
	caller := appendAccount([]byte("workspace:"), p.Workspace) // a slash in it is escaped
	return string(append(append(caller, '/'), p.Member...))
}

// claim gets the claim, or returns the kept reply. While another call has the claim
// it asks again, with pauses. Where the other call's claim is dead, claim first
// voids that call's hold and then takes the claim over, so that the caller pays for
// one call.
func (o *once) claim(ctx context.Context, c *Call) ([]byte, error) {
	r := o.router
	ask := Claim{Key: o.key, Digest: c.Idempotency.Digest, Hold: o.hold, Most: repliesPerKey}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		ask.Now = r.cfg.Now()
		ask.Deadline = r.closedBy(c, ask.Now)
		got, err := o.replies.Claim(ctx, ask)
		switch {
		case errors.Is(err, ErrReused):
			return nil, &Error{Class: Conflict, Message: "Idempotency-Key was used for another request", Err: err}
		case errors.Is(err, errors.ErrUnsupported):
			return nil, err
		case err != nil && ctx.Err() != nil:
			return nil, withCause(c.endWait(StopDeadline, context.DeadlineExceeded), o.giveUp(ctx))
		case err != nil:
			return nil, withCause(Failure(err), o.giveUp(ctx))
		case got.Reply != nil || got.Hold == o.hold:
			return got.Reply, nil
		case got.Dead && got.Hold != ask.After:
			if err := r.cfg.Ledger.Void(ctx, got.Hold); err != nil {
				return nil, Failure(err)
			}
			ask.After = got.Hold
			continue
		}
		timer := time.NewTimer(pause/2 + time.Duration(r.cfg.Seed()%uint64(pause))) //nolint:gosec // neither is negative
		select {
		case <-timer.C:
			continue
		case <-c.gone:
			err = c.endWait(StopCaller, context.Canceled)
		case <-ctx.Done():
			err = c.endWait(StopDeadline, ctx.Err())
		}
		timer.Stop()
		return nil, err
	}
}

// endWait returns the error of a call that waited for another call in vain.
func (c *Call) endWait(stop Stop, why error) error {
	c.Report.Stopped = stop
	return &Error{Class: Timeout, Err: errors.Join(errInFlight, why)}
}

// closedBy returns the time by which a call that begins now has settled its hold,
// or never will.
func (r *Router) closedBy(c *Call, now time.Time) time.Time {
	return now.Add(max(r.timeout(c), r.usualTimeout(c)) + holdGrace)
}

// keep keeps the reply of a call without a hold. On a nil once, of a call without
// an idempotency key, it does nothing.
func (o *once) keep(ctx context.Context, c *Call, res *Result) error {
	if o == nil {
		return nil
	}
	o.spent = true
	k := o.kept(c, res, nil)
	return repeat(ctx, o.router.cfg.Seed, func(ctx context.Context) error { return o.replies.Keep(ctx, k) })
}

// release gives up the claim of a call that ended with err, unless its reply is or
// may be kept. A ledger that is unavailable is asked only once, so that the caller
// gets the error at once.
func (o *once) release(ctx context.Context, err error) error {
	if o.spent {
		return nil
	}
	if errors.Is(err, ErrUnavailable) {
		return o.giveUp(ctx)
	}
	return repeat(ctx, o.router.cfg.Seed, func(ctx context.Context) error { return o.replies.Release(ctx, o.key, o.hold) })
}

// giveUp gives up the claim with a single request. The call may not have the claim,
// because the ledger has failed.
func (o *once) giveUp(ctx context.Context) error {
	ctx, end := withSettleTime(ctx)
	defer end()
	return o.replies.Release(ctx, o.key, o.hold)
}

// keptReply is the JSON text of a [Kept]: a response, or the class of an error that
// was charged.
type keptReply struct {
	ID       string          `json:"id"`
	Error    Class           `json:"error"`
	Endpoint uuid.UUID       `json:"endpoint"`
	Nanos    int64           `json:"nanos"` // what was charged, in nano-dollars
	Response json.RawMessage `json:"response"`
	// What the JSON of a response has no members for.
	Refused   map[string]string `json:"refused"` // refusals by question
	Cached    int64             `json:"cached"`
	Reasoning int64             `json:"reasoning"`
}

// kept returns the reply to keep. Without res it is why a call failed that was
// charged nevertheless. The response is kept byte for byte as the caller gets
// it.
func (o *once) kept(c *Call, res *Result, why error) Kept {
	text := systemone.AppendString([]byte(`{"id":`), c.ID)
	if res == nil {
		text = systemone.AppendString(append(text, `,"error":`...), string(classOf(why)))
	} else {
		text = append(append(append(text, `,"endpoint":"`...), res.Endpoint.ID.String()...), `","nanos":`...)
		text = strconv.AppendInt(text, int64(res.Cost), 10)
		text = res.Response.AppendJSON(append(text, `,"response":`...))
		text = appendBeside(text, &res.Response)
	}
	return Kept{Key: o.key, Hold: o.hold, Reply: append(text, '}')}
}

// appendBeside appends the members of a keptReply for what the JSON of a response lacks.
func appendBeside(text []byte, r *systemone.Response) []byte {
	text = strconv.AppendInt(append(text, `,"cached":`...), r.Usage.CachedTokens, 10)
	text = strconv.AppendInt(append(text, `,"reasoning":`...), r.Usage.ReasoningTokens, 10)
	mark := `,"refused":{`
	for i := range r.Answers {
		if a := &r.Answers[i]; a.Refusal != "" {
			text = systemone.AppendString(append(text, mark...), a.Name)
			text = systemone.AppendString(append(text, ':'), a.Refusal)
			mark = ","
		}
	}
	if mark == "," {
		text = append(text, '}')
	}
	return text
}

// replay returns a kept reply as this call's result, and gives the call the
// generation id of the call that was answered.
func (r *Router) replay(c *Call, kept []byte) (*Result, error) {
	var k keptReply
	if err := json.Unmarshal(kept, &k); err != nil {
		return nil, &Error{Class: Server, Err: err}
	}
	c.ID, c.Report.Replayed = k.ID, true
	if k.Error != "" {
		return nil, &Error{Class: k.Error, Err: errKept}
	}
	response, err := systemone.DecodeResponse(k.Response)
	if err != nil {
		return nil, &Error{Class: Server, Err: err}
	}
	response.Usage.CachedTokens, response.Usage.ReasoningTokens = k.Cached, k.Reasoning
	for i := range response.Answers {
		a := &response.Answers[i]
		a.Refusal = k.Refused[a.Name]
	}
	res := &Result{Response: *response, Cost: USD(k.Nanos), Endpoint: &Endpoint{ID: k.Endpoint}}
	if s, ok := c.world.byEndpoint[k.Endpoint]; ok {
		res.Endpoint = s.endpoint
	}
	return res, nil
}
