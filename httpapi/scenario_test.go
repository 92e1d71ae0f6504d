package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// scenario is a request and the reply that the interface promises for it.
type scenario struct {
	name    string
	mount   string // default /api/v1
	method  string // default POST
	path    string // default /systemone
	key     string // kind of key; default inference, "-" sends none
	header  map[string]string
	body    string // default sound
	ant     []error
	bee     []error
	options []option
	also    func(*rig)

	status  int
	message string
	kind    string         // error_type
	want    map[string]any // by path
	absent  []string       // paths
	headers map[string]string
}

// play runs a scenario and returns the reply.
func (s *scenario) play(t *testing.T) (*rig, *http.Request, *reply) {
	t.Helper()
	g := newRig(t, s.options...)
	g.ant.script, g.bee.script = s.ant, s.bee
	if s.also != nil {
		s.also(g)
	}
	method, path, body, key := orText(s.method, http.MethodPost), orText(s.path, "/systemone"), orText(s.body, sound), orText(s.key, "inference")
	if key == "-" {
		key = ""
	}
	r := g.request(t, method, path, body, key)
	for name, value := range s.header {
		r.Header.Set(name, value)
	}
	w := g.serve(t, g.mounted(s.mount), r)
	return g, r, &reply{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
}

// mounted returns the handler for a mount.
func (g *rig) mounted(at string) http.Handler {
	switch at {
	case "/v1":
		return g.native
	case "/api/alpha":
		return g.handler.Alpha()
	}
	return g.handler
}

type reply struct {
	status int
	header http.Header
	body   []byte
}

func orText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// TestScenarios plays every scenario and checks each reply against docs/openapi.yaml
// too.
func TestScenarios(t *testing.T) {
	d := openAPI(t)
	for _, s := range allScenarios(t) {
		t.Run(orText(s.mount, "/api/v1")+" "+s.name, func(t *testing.T) {
			_, r, got := s.play(t)
			require.Equal(t, s.status, got.status, "%s", got.body)
			d.describes(t, s, r, got)
			if s.status >= http.StatusBadRequest {
				s.checkError(t, got.body)
			}
			for path, want := range s.want {
				assert.Equal(t, want, at(t, got.body, path), path)
			}
			for _, path := range s.absent {
				assert.Nil(t, at(t, got.body, path), path)
			}
			for name, want := range s.headers {
				assert.Equal(t, want, got.header.Get(name), name)
			}
			if s.mount == "/v1" {
				assert.Equal(t, got.header.Get("X-Request-Id"), got.header.Get("X-Typesafe-Request-Id"))
				if s.status >= http.StatusBadRequest {
					assert.Equal(t, s.message, at(t, got.body, "detail.message"))
				}
				assert.Equal(t, at(t, got.body, "error.metadata.error_type"), at(t, got.body, "detail.error_type"))
			}
		})
	}
}

// checkError checks the envelope of a refusal in the dialect of the path. That of the
// Decisions dialect adds the first problem to the message.
func (s *scenario) checkError(t *testing.T, body []byte) {
	t.Helper()
	assert.Equal(t, s.kind, at(t, body, "error.metadata.error_type"))
	if s.path != "/decisions" || s.mount == "/api/alpha" {
		assert.EqualValues(t, s.status, at(t, body, "error.code"))
		assert.Equal(t, s.message, at(t, body, "error.message"))
		return
	}
	assert.Equal(t, s.kind, at(t, body, "error.code"))
	assert.NotEmpty(t, at(t, body, "error.type"))
	want := s.message
	path, problem := at(t, body, "error.metadata.issues.0.path"), at(t, body, "error.metadata.issues.0.message")
	place := ""
	if path == "" {
		path = nil // a problem of the whole body
	}
	if assert.Equal(t, path, at(t, body, "error.param")); path != nil {
		place = fmt.Sprint(path, " ")
	}
	if problem != nil && problem != s.message {
		want += fmt.Sprint(": ", place, problem)
	}
	assert.Equal(t, want, at(t, body, "error.message"))
}

func TestStatusIsTheSameTable(t *testing.T) {
	for _, s := range scenarios() {
		if s.kind == "" || s.kind == "method_not_allowed" {
			continue
		}
		assert.Equal(t, s.status, httpapi.Status(fmt.Errorf("wrapped: %w", &router.Error{Class: router.Class(s.kind)})), s.name)
	}
	assert.Equal(t, http.StatusOK, httpapi.Status(nil))
	assert.Equal(t, http.StatusInternalServerError, httpapi.Status(errCanary))
	assert.Equal(t, http.StatusBadRequest, httpapi.Status(&systemone.InvalidError{}))
	assert.Equal(t, 524, httpapi.Status(context.DeadlineExceeded))
	assert.Equal(t, http.StatusBadGateway, httpapi.Status(&router.Error{Class: router.ProviderUnavailable, Err: context.DeadlineExceeded}),
		"the class counts, not the cause")
}

func TestFailuresAreLoggedUnderTheRequestID(t *testing.T) {
	s := scenario{header: map[string]string{"X-Request-Id": "tie-1"}, options: []option{refuse(router.Server, "")}}
	g, _, got := s.play(t)
	assert.Equal(t, "tie-1", got.header.Get("X-Request-Id"))
	assert.Contains(t, g.log.String(), canary, "the operator sees the cause")
	assert.Contains(t, g.log.String(), `"request_id":"tie-1"`)
	assert.Contains(t, g.log.String(), `"route":"POST /systemone"`)

	s = scenario{also: func(g *rig) { g.ant.panics = true }}
	g, _, got = s.play(t)
	assert.Contains(t, g.log.String(), "panic while serving a request")
	assert.Contains(t, g.log.String(), "scripted")
	assert.Contains(t, g.log.String(), got.header.Get("X-Request-Id"))

	s = scenario{key: "unknown"}
	g, _, _ = s.play(t)
	assert.Empty(t, g.log.String(), "what callers do wrong is not the operator's")
}

func TestNativeDeadlineIsBelowTheClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scenario{mount: "/v1", also: func(g *rig) { g.ant.wait, g.bee.wait = true, true }}
		started := time.Now()
		_, _, got := s.play(t)
		assert.Equal(t, 524, got.status)
		assert.Equal(t, 9*time.Second, time.Since(started))
	})
}

func TestDeadlineOfTheInterface(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scenario{also: func(g *rig) { g.ant.wait, g.bee.wait = true, true }}
		started := time.Now()
		_, _, got := s.play(t)
		assert.Equal(t, 524, got.status)
		assert.Equal(t, 20*time.Second, time.Since(started), "two attempts of 10 s")
	})
}

func TestGenerationID(t *testing.T) {
	s := scenario{}
	_, _, got := s.play(t)
	id, ok := at(t, got.body, "id").(string)
	require.True(t, ok)
	assert.Regexp(t, `^gen-dec-[0-9a-f]{32}$`, id)
	assert.Equal(t, id, got.header.Get("X-Generation-Id"))

	s = scenario{key: "-"}
	_, _, got = s.play(t)
	assert.Empty(t, got.header.Get("X-Generation-Id"), "nothing was generated")
}

func TestSessionHeader(t *testing.T) {
	var seen string
	spy := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			seen = c.Request.SessionID
			return next(ctx, c)
		}
	})
	s := scenario{header: map[string]string{"x-session-id": "from header"}, options: []option{spy}}
	s.play(t)
	assert.Equal(t, "from header", seen)
	s.body = with(`"session_id":"from body"`)
	s.play(t)
	assert.Equal(t, "from body", seen, "the body wins")
}

// TestTraceHeaders: by W3C Trace Context two traceparent headers are none.
func TestTraceHeaders(t *testing.T) {
	var seen *router.Call
	spy := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			seen = c
			return next(ctx, c)
		}
	})
	s := scenario{header: map[string]string{"traceparent": "00-p", "tracestate": "a=1"}, options: []option{spy}}
	s.play(t)
	assert.Equal(t, router.TraceContext{Parent: "00-p", State: "a=1"}, seen.Trace)
	assert.Equal(t, "/systemone", seen.Route)
	s.header = nil
	s.play(t)
	assert.Zero(t, seen.Trace)
}

func TestPoliciesKnowWhoAsks(t *testing.T) {
	var seen *router.Call
	spy := intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			seen = c
			return next(ctx, c)
		}
	})
	s := scenario{options: []option{spy}, header: map[string]string{"X-Request-Id": "r-1"}}
	s.play(t)
	assert.Equal(t, "user_1", seen.Principal.Member)
	assert.Len(t, seen.Principal.KeyHash, 64)
	assert.Equal(t, "r-1", seen.RequestID)
	assert.Empty(t, string(seen.Secret), "the key's text goes no further")
}

func TestNothingStaysForTheNextCaller(t *testing.T) {
	g := newRig(t)
	for range 20 {
		w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", sound, "inference"))
		assert.Equal(t, 200, w.Code)
		r := g.request(t, http.MethodPost, "/systemone", sound, "")
		r.Header.Set("X-Router-Metadata", "enabled")
		w = g.serve(t, g.handler, r)
		assert.Equal(t, 401, w.Code)
		assert.JSONEq(t, `{"error":{"code":401,"message":"Missing Authentication header","metadata":{"error_type":"authentication"}}}`, w.Body.String())
		assert.Empty(t, w.Header().Get("X-Generation-Id"))
		w = g.serve(t, g.handler, g.request(t, http.MethodPut, "/systemone", sound, ""))
		assert.Equal(t, "POST", w.Header().Get("Allow"))
		w = g.serve(t, g.handler, g.request(t, http.MethodPut, "/nothing", sound, ""))
		assert.Equal(t, 404, w.Code)
	}
}

func TestMarkupIsNotEscapedForHTML(t *testing.T) {
	s := scenario{method: "GET", path: "/models"}
	_, _, got := s.play(t)
	assert.True(t, bytes.Contains(got.body, []byte("Judges <everything> & more")))
}
