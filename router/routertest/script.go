package routertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Script is a [router.Provider] that answers from a script: each attempt takes the
// next step, and when none is left it gets Default. The zero value answers
// everything, with [Answers]. It is safe for concurrent use once its fields are
// set.
//
// Each question must be answered or refused, and the answers must pass
// [systemone.Check]. Anything else is a mistake in the test: the Script fails TB with
// the reason. The call then ends with an error
// of class InvalidRequest, so that no other endpoint hides the mistake. Use
// [Step.Do] to script wrong answers of an upstream.
type Script struct {
	// TB is the test that a broken script fails; [NewScript] sets it. Where it is
	// nil, only the call's error reports the mistake.
	TB testing.TB
	// Tolerance is that of the endpoint that the script serves.
	Tolerance systemone.Tolerance
	// Default answers when no step is left. The zero Step answers with
	// [Answers] and a usage of one token each way.
	Default Step

	mu       sync.Mutex
	steps    []Step
	attempts []router.Attempt
}

// Step is the outcome of one attempt: after Delay, the first of Do, Err and Reply
// that is set counts. The end of the context ends a delay.
type Step struct {
	Delay time.Duration
	Do    func(ctx context.Context, a router.Attempt) (router.Reply, error) // its answers are not checked
	Err   error
	// Reply is the reply; nil is one with a usage of one token each way. A Reply
	// without answers gets those of [Answers] to all questions that it does not
	// refuse.
	Reply *router.Reply
	// Answers replace the reply's own answers to their questions, or refuse them.
	Answers []Answer
}

var _ router.Provider = (*Script)(nil)

// NewScript returns a Script with these steps, which fails the test t if it is
// broken.
func NewScript(t testing.TB, steps ...Step) *Script {
	t.Helper()
	return &Script{TB: t, steps: steps}
}

// Add appends steps. It is safe for concurrent use.
func (s *Script) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Left returns how many steps are still to be taken.
func (s *Script) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// Attempts returns the attempts so far, in the order in which they started.
func (s *Script) Attempts() []router.Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.attempts)
}

// Decide takes the next step.
func (s *Script) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	step := s.next(a)
	if err := wait(ctx, step.Delay); err != nil {
		return router.Reply{}, err
	}
	switch {
	case step.Do != nil:
		return step.Do(ctx, a)
	case step.Err != nil:
		return router.Reply{}, step.Err
	}
	r, err := step.reply(a)
	if err == nil {
		err = acceptable(a.Request, r, s.Tolerance)
	}
	if err != nil {
		return router.Reply{}, s.broken(err)
	}
	return r, nil
}

// reply returns what the step answers.
func (step Step) reply(a router.Attempt) (router.Reply, error) {
	r := defaultReply(a)
	if step.Reply != nil {
		answers := r.Answers
		r = *step.Reply
		r.Answers, r.Refused = slices.Clone(r.Answers), slices.Clone(r.Refused)
		if r.Answers == nil {
			r.Answers = answers
			for _, refused := range r.Refused {
				drop(&r, refused.Question)
			}
		}
	}
	for _, scripted := range step.Answers {
		if err := scripted.apply(&r, a.Request); err != nil {
			return r, err
		}
	}
	return r, nil
}

// drop removes the answer to a question.
func drop(r *router.Reply, question string) {
	r.Answers = slices.DeleteFunc(r.Answers, func(a systemone.Answer) bool { return a.Name == question })
}

// broken fails the test and ends the call, because an invalid request is sent to no
// other endpoint.
func (s *Script) broken(err error) error {
	err = fmt.Errorf("routertest: the script is broken: %w", err)
	if s.TB != nil {
		s.TB.Helper()
		s.TB.Error(err)
	}
	return &router.UpstreamError{Class: router.InvalidRequest, Err: err}
}

func (s *Script) next(a router.Attempt) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, a)
	if len(s.steps) == 0 {
		return s.Default
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step
}

// wait waits for d and returns the end of ctx like a client of a real upstream.
func wait(ctx context.Context, d time.Duration) error {
	if d > 0 && ctx.Err() == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &router.UpstreamError{Class: router.Timeout, Err: err}
	default:
		return &router.UpstreamError{Class: router.ProviderUnavailable, Err: err}
	}
}

// Fail returns the error that a provider reports for an upstream's HTTP status. A
// provider that knows more of its upstream may report another class.
//
//	400, 422       router.InvalidRequest
//	413            router.PayloadTooLarge
//	429            router.RateLimitExceeded
//	503            router.NoCapacity
//	529            router.ProviderOverloaded
//	408, 504, 524  router.Timeout
//	any other      router.ProviderUnavailable
//
// RetryAfter is the upstream's hint, 0 for none.
func Fail(status int, retryAfter time.Duration) error {
	return &router.UpstreamError{Status: status, Class: class(status), RetryAfter: retryAfter}
}

// class repeats the table of the interface instead of calling the clients' own, so
// that the suite detects a mistake there.
func class(status int) router.Class {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return router.InvalidRequest
	case http.StatusRequestEntityTooLarge:
		return router.PayloadTooLarge
	case http.StatusTooManyRequests:
		return router.RateLimitExceeded
	case http.StatusServiceUnavailable:
		return router.NoCapacity
	case 529:
		return router.ProviderOverloaded
	case http.StatusRequestTimeout, http.StatusGatewayTimeout, 524:
		return router.Timeout
	default:
		return router.ProviderUnavailable
	}
}
