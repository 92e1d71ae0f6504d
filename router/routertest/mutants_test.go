package routertest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// decider is a provider that is a function.
type decider func(ctx context.Context, a router.Attempt) (router.Reply, error)

func (d decider) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	return d(ctx, a)
}

// mutant is a provider with one fault, and the group of the suite that must detect
// it.
type mutant struct {
	group string
	make  func(base string, good router.Provider) router.Provider
}

// on changes the behaviour of a good provider.
func on(change func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error)) func(string, router.Provider) router.Provider {
	return func(_ string, good router.Provider) router.Provider {
		return decider(func(ctx context.Context, a router.Attempt) (router.Reply, error) { return change(ctx, good, a) })
	}
}

// failing changes the errors of a good provider.
func failing(change func(*router.UpstreamError) error) func(string, router.Provider) router.Provider {
	return on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
		reply, err := good.Decide(ctx, a)
		if failed, ok := errors.AsType[*router.UpstreamError](err); ok {
			return reply, change(failed)
		}
		return reply, err
	})
}

// refusing changes the refusals of a good provider.
func refusing(change func(*router.Refusal)) func(string, router.Provider) router.Provider {
	return on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
		reply, err := good.Decide(ctx, a)
		for i := range reply.Refused {
			change(&reply.Refused[i])
		}
		return reply, err
	})
}

func mutants() map[string]mutant {
	return map[string]mutant{
		"retries": {"status", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			if reply, err := good.Decide(ctx, a); err == nil {
				return reply, nil
			}
			return good.Decide(ctx, a)
		})},
		"follows redirects": {"redirect", func(base string, _ router.Provider) router.Provider { return naive(base) }},
		"quotes errors":     {"status", func(base string, _ router.Provider) router.Provider { return naive(base) }},
		"reads everything":  {"broken body", func(base string, _ router.Provider) router.Provider { return naive(base) }},
		"plain errors":      {"status", failing(func(e *router.UpstreamError) error { return errors.New(e.Error()) })},
		"one class": {"status", failing(func(e *router.UpstreamError) error {
			e.Class = router.ProviderUnavailable
			return e
		})},
		"no status": {"status", failing(func(e *router.UpstreamError) error {
			e.Status = 0
			return e
		})},
		"no hint": {"retry after", failing(func(e *router.UpstreamError) error {
			e.RetryAfter = 0
			return e
		})},
		"no bad replies": {"broken body", failing(func(e *router.UpstreamError) error {
			e.BadReply = false
			return e
		})},
		"deaf": {"context", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			return good.Decide(context.WithoutCancel(ctx), a)
		})},
		"leaves early": {"context", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			done := make(chan error, 1)
			go func() {
				_, err := good.Decide(context.WithoutCancel(ctx), a)
				done <- err
			}()
			select {
			case err := <-done:
				return router.Reply{}, err
			case <-ctx.Done():
				return router.Reply{}, &router.UpstreamError{Class: router.Timeout, Err: ctx.Err()}
			}
		})},
		"leaves a goroutine": {"answers", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			go func() { <-make(chan int) }()
			return good.Decide(ctx, a)
		})},
		"invents": {"wrong answers", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			if err == nil && systemone.Check(a.Request, reply.Answers, systemone.Tolerance{}) != nil {
				reply.Answers = routertest.Answers(a.Request)
			}
			return reply, err
		})},
		"refuses": {"wrong answers", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			if err == nil && len(reply.Answers) < len(a.Request.Questions) {
				reply.Answers = nil
				for _, q := range a.Request.Questions {
					reply.Refused = append(reply.Refused, router.Refusal{Question: q.Name})
				}
			}
			return reply, err
		})},
		"says what nobody said": {"refusals", refusing(func(r *router.Refusal) { r.Text = "no" })},
		"calls it safety":       {"refusals", refusing(func(r *router.Refusal) { r.Safety = true })},
		"loses refusals": {"refusals", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			reply.Refused = nil
			return reply, err
		})},
		"loses answers": {"answers", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			if len(reply.Answers) > 5 {
				reply.Answers = reply.Answers[:5]
			}
			return reply, err
		})},
		"takes no usage for none": {"answers", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			reply.Uncounted = router.Uncounted{}
			return reply, err
		})},
		"changes the attempt": {"request", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			a.Request.Questions[0].Instructions = systemone.Text("changed")
			return good.Decide(ctx, a)
		})},
		"sends what stays here": {"request", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			a.Model += a.Request.SessionID
			return good.Decide(ctx, a)
		})},
		"sends options": {"request", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			a.Model += string(a.Options)
			return good.Decide(ctx, a)
		})},
		"mixes attempts": {"concurrency", mixing},
		"shows the operator's credential": {"credential", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			a.Credential = ""
			return good.Decide(ctx, a)
		})},
		"keeps a credential": {"credential", keeping},
		"falls back to the operator's credential": {"credential", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			if failed, ok := errors.AsType[*router.UpstreamError](err); ok && failed.Status == 0 {
				a.Credential = ""
				return good.Decide(ctx, a)
			}
			return reply, err
		})},
		"quotes the credential": {"credential", on(func(ctx context.Context, good router.Provider, a router.Attempt) (router.Reply, error) {
			reply, err := good.Decide(ctx, a)
			if failed, ok := errors.AsType[*router.UpstreamError](err); ok {
				failed.Err = errors.New("refused: " + string(a.Credential))
			}
			return reply, err
		})},
	}
}

// mixing returns the answers of one attempt for the next.
func mixing(_ string, good router.Provider) router.Provider {
	var mu sync.Mutex
	var last *router.Reply
	return decider(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		reply, err := good.Decide(ctx, a)
		mu.Lock()
		defer mu.Unlock()
		if last == nil {
			last = &reply
		}
		reply, *last = *last, reply
		return reply, err
	})
}

// keeping sends one caller's credential for the next.
func keeping(_ string, good router.Provider) router.Provider {
	var mu sync.Mutex
	var last router.Secret
	return decider(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		mu.Lock()
		if a.Credential == "" {
			a.Credential = last
		}
		last = a.Credential
		mu.Unlock()
		return good.Decide(ctx, a)
	})
}

// naive is a client without any care.
func naive(base string) router.Provider {
	client := &http.Client{Transport: &http.Transport{}}
	return decider(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
		body := systemone.AppendUpstream(nil, a.Model, a.Request)
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/systemone", bytes.NewReader(body))
		if err != nil {
			return router.Reply{}, err
		}
		resp, err := client.Do(q)
		if err != nil {
			return router.Reply{}, &router.UpstreamError{Err: err}
		}
		defer resp.Body.Close() //nolint:errcheck // a client written in a hurry
		data, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return router.Reply{}, &router.UpstreamError{Status: resp.StatusCode, Err: errors.New(string(data))}
		}
		got, err := systemone.DecodeResponse(data)
		if err != nil {
			return router.Reply{}, &router.UpstreamError{Status: http.StatusOK, Err: err}
		}
		return router.Reply{Answers: got.Answers, Usage: got.Usage}, nil
	})
}

const mutantVariable = "ROUTERTEST_MUTANT"

// TestSuiteFindsMutants runs the suite on faulty providers, each in a process
// of its own, because there it must fail.
func TestSuiteFindsMutants(t *testing.T) {
	for name, m := range mutants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			group := strings.ReplaceAll(m.group, " ", "_")
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestMutant$/^"+group+"$", "-test.v", "-test.failfast")
			cmd.Env = append(os.Environ(), mutantVariable+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "the suite has not found the fault")
			assert.Contains(t, string(out), "--- FAIL: TestMutant/"+group)
		})
	}
}

// TestMutant is started by TestSuiteFindsMutants. Without a mutant it checks that a
// good provider passes the suite.
func TestMutant(t *testing.T) {
	m, isMutant := mutants()[os.Getenv(mutantVariable)]
	routertest.Run(t, routertest.Wire{
		New: func(t *testing.T, base string, key router.Secret) router.Provider {
			t.Helper()
			good, err := systemonehttp.New(systemonehttp.Config{
				BaseURL: base, APIKey: key, MaxReplyBytes: 1 << 20, Profile: systemonehttp.Profile{SilenceRefuses: true},
			})
			require.NoError(t, err)
			if isMutant {
				return m.make(base, good)
			}
			return good
		},
		Encode: func(_ router.Attempt, want router.Reply) []byte {
			return (&systemone.Response{Answers: want.Answers, Usage: want.Usage}).AppendJSON(nil)
		},
		SilenceRefuses: true,
		TooLarge:       2 << 20,
	})
}
