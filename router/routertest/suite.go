package routertest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Wire describes a provider that reaches its upstream by HTTP.
type Wire struct {
	// New makes the provider under test; required. base is the address of an
	// upstream that the suite serves, without a trailing slash, and key the
	// operator's credential. It is called once for each test.
	New func(t *testing.T, base string, key router.Secret) router.Provider
	// Encode writes the body of the 200 with which the upstream would answer a with
	// want; required. It must also write wrong answers: too many or too few, and
	// labels that were not asked for.
	Encode func(a router.Attempt, want router.Reply) []byte
	// Model is the upstream's name of a model; default judge-1.
	Model string
	// Tolerance is that of the upstream's endpoints.
	Tolerance systemone.Tolerance
	// NoNulls says that no null guidance can be sent.
	NoNulls bool
	// Refusals says that Encode can write want.Refused.
	Refusals bool
	// RefusesAll says that Encode can write want.Refused where it names every
	// question, for a dialect that refuses a request whole or not at all.
	RefusesAll bool
	// SilenceRefuses says that a question without an answer counts as refused.
	SilenceRefuses bool
	// RefusalTexts says that Encode can write the Text of a refusal.
	RefusalTexts bool
	// RefusesForSafety says that Encode can write whether a refusal is for safety.
	RefusesForSafety bool
	// RetryBody writes the body of a failure that asks not to be called for a time,
	// for a dialect that does so in bodies. Nil is any other.
	RetryBody func(time.Duration) []byte
	// TooLarge is the size in bytes of a reply that must be refused; default
	// 64 MiB. A smaller one makes the suite faster.
	TooLarge int
	// Forbidden are words that no request may contain, in addition to the suite's
	// own.
	Forbidden []string
}

// Texts that must never appear in an error, with the place where the suite plants them.
const (
	secretKey     = "sk-canary-5f1d0c9b7a"  // in the operator's credential
	secretOwn     = "sk-canary-own-91c3e7"  // in a caller's own
	secretState   = "canary-of-the-state"   // in the state and the questions
	secretReply   = "canary-of-the-reply"   // in every broken or failed reply
	secretOptions = "canary-of-the-options" // in options that no upstream knows
	requestID     = "req-0123456789abcdef"  // in every attempt
	patience      = 5 * time.Second         // for events that must happen soon
	shortly       = 50 * time.Millisecond   // for events that must not happen
	overloaded    = 529                     // not in net/http
	edgeTimeout   = 524                     // not in net/http
)

// Run tests the promises of router.Provider on a provider. It must not run beside
// parallel tests.
func Run(t *testing.T, w Wire) {
	t.Helper()
	require.NotNil(t, w.New, "Wire.New is required")
	require.NotNil(t, w.Encode, "Wire.Encode is required")
	if w.Model == "" {
		w.Model = "judge-1"
	}
	if w.TooLarge == 0 {
		w.TooLarge = 64 << 20
	}
	for _, group := range []struct {
		name string
		test func(*testing.T, Wire)
	}{
		{"answers", testAnswers},
		{"wrong answers", testWrongAnswers},
		{"refusals", testRefusals},
		{"request", testRequest},
		{"credential", testCredentials},
		{"status", testStatus},
		{"retry after", testRetryAfter},
		{"redirect", testRedirects},
		{"broken body", testBrokenBodies},
		{"connection", testConnections},
		{"context", testContext},
		{"concurrency", testConcurrency},
	} {
		t.Run(group.name, func(t *testing.T) {
			leavesNoGoroutine(t, func() { group.test(t, w) })
		})
	}
}

// bench is one provider in front of an upstream that the suite plays.
type bench struct {
	wire     Wire
	provider router.Provider
	server   *httptest.Server

	mu    sync.Mutex
	serve http.HandlerFunc
	calls []call
}

// call is one request as the upstream got it.
type call struct {
	path   string
	header http.Header
	body   []byte
}

func newBench(t *testing.T, w Wire) *bench {
	t.Helper()
	b := &bench{wire: w}
	b.server = httptest.NewServer(b)
	t.Cleanup(b.server.Close)
	b.provider = w.New(t, b.server.URL, secretKey)
	return b
}

// ServeHTTP plays the upstream.
func (b *bench) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	b.mu.Lock()
	b.calls = append(b.calls, call{path: r.URL.Path, header: r.Header.Clone(), body: body})
	serve := b.serve
	b.mu.Unlock()
	if err != nil || serve == nil {
		rw.WriteHeader(http.StatusTeapot)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	serve(rw, r)
}

// answer makes the upstream answer every request in one way.
func (b *bench) answer(serve http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serve, b.calls = serve, nil
}

// body makes the upstream reply with a status and a body.
func (b *bench) body(status int, header http.Header, body []byte) {
	b.answer(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		maps.Copy(rw.Header(), header)
		rw.WriteHeader(status)
		_, _ = rw.Write(body)
	})
}

func (b *bench) seen() []call {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls
}

// fails asks once. It requires an [*router.UpstreamError] without secrets, and that
// the upstream was asked once.
func (b *bench) fails(t *testing.T, a router.Attempt) *router.UpstreamError {
	t.Helper()
	_, err := b.provider.Decide(t.Context(), a)
	failed := failure(t, err)
	b.askedOnce(t)
	return failed
}

// once is the message for a provider that did not send exactly one request.
const once = "one request: the router retries, a provider never does, and follows no redirect"

// askedOnce requires one request. It prints their number, not their bytes.
func (b *bench) askedOnce(t *testing.T) {
	t.Helper()
	n := len(b.seen())
	require.Equal(t, 1, n, once)
}

func (b *bench) attempt(r *systemone.Request) router.Attempt {
	return router.Attempt{Request: r, Model: b.wire.Model, RequestID: requestID}
}
