package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/memory"
)

// counter is a rig with all surfaces mounted, whose decisions are charged.
type counter struct {
	*rig

	t      *testing.T
	ledger router.Ledger
	server *httptest.Server
	later  atomic.Int64  // nanoseconds added to the clock
	gone   chan struct{} // receives when the context of a request ends
}

func newCounter(t *testing.T) *counter {
	t.Helper()
	c := &counter{t: t, ledger: memory.New().Ledger, gone: make(chan struct{}, 64)}
	c.rig = newRig(t, func(_ *httpapi.Config, engine *router.Config) {
		engine.Ledger = c.ledger
		engine.Now = func() time.Time { return time.Now().Add(time.Duration(c.later.Load())) }
	})
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", http.StripPrefix("/api/v1", c.handler))
	mux.Handle("/api/alpha/", http.StripPrefix("/api/alpha", c.handler.Alpha()))
	mux.Handle("/v1/", http.StripPrefix("/v1", c.native))
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { c.gone <- struct{}{} })
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(c.server.Close)
	return c
}

// got is the part of a reply that the tests compare.
type got struct {
	status             int
	body, id, replayed string
}

// ask posts a body with these idempotency keys.
func (c *counter) ask(ctx context.Context, path, body, kind string, keys ...string) (got, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.server.URL+path, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header["Idempotency-Key"] = keys
	r.Header.Set("Authorization", "Bearer "+string(c.keys[kind]))
	r.Header.Set("X-Router-Metadata", "enabled")
	resp, err := c.server.Client().Do(r)
	if err != nil {
		return got{}, err
	}
	defer func() { assert.NoError(c.t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	return got{resp.StatusCode, string(text), resp.Header.Get("X-Generation-Id"), resp.Header.Get("Idempotent-Replayed")}, err
}

func (c *counter) gets(path, body, kind string, keys ...string) got {
	c.t.Helper()
	g, err := c.ask(c.t.Context(), path, body, kind, keys...)
	require.NoError(c.t, err)
	return g
}

func (c *counter) asked() int {
	c.ant.mu.Lock()
	defer c.ant.mu.Unlock()
	return len(c.ant.seen)
}

const decisions = "/api/v1/systemone"

func TestIdempotencyKeyOverHTTP(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	first := c.gets(decisions, sound, "inference", "a")
	require.Equal(t, 200, first.status)
	assert.Empty(t, first.replayed)
	plain, _, _ := strings.Cut(first.body, `,"router_metadata"`)
	for range 2 {
		again := c.gets(decisions, sound, "inference", "a")
		assert.Equal(t, got{200, plain + "}", first.id, "true"}, again, "without the metadata of the first one")
	}
	assert.Equal(t, 1, c.asked())

	for name, path := range map[string]string{"body": decisions, "native mount": "/v1/systemone", "alpha": "/api/alpha/decisions"} {
		body := sound
		if name == "body" {
			body += " "
		}
		refused := c.gets(path, body, "inference", "a")
		assert.Equal(t, 409, refused.status, name)
		assert.Equal(t, "Idempotency-Key was used for another request", at(t, []byte(refused.body), "error.message"), name)
		assert.Equal(t, "conflict", at(t, []byte(refused.body), "error.metadata.error_type"), name)
		assert.Empty(t, refused.replayed)
	}
	assert.Equal(t, 1, c.asked())

	other := c.gets(decisions, sound, "anonymous", "a")
	assert.Equal(t, 200, other.status)
	assert.NotEqual(t, first.id, other.id, "another API key's keys are its own")
	assert.Equal(t, 2, c.asked())
	assert.Empty(t, c.gets(decisions, sound, "inference").replayed, "no key, no replay")

	c.later.Store(int64(router.RepliesKept))
	assert.Empty(t, c.gets(decisions, sound, "inference", "a").replayed)
}

func TestIdempotencyKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	for name, keys := range map[string][]string{
		"empty": {""}, "long": {strings.Repeat("k", 129)}, "not ASCII": {"é"}, "space": {"a b"}, "twice": {"a", "b"}, "repeated": {"a", "a"},
	} {
		for _, path := range []string{decisions, "/v1/systemone"} {
			refused := c.gets(path, sound, "inference", keys...)
			assert.Equal(t, 400, refused.status, name)
			assert.Equal(t, "idempotency-key", at(t, []byte(refused.body), "error.metadata.issues.0.path"), name)
		}
	}
	assert.Zero(t, c.asked())
	assert.Equal(t, 401, c.gets(decisions, sound, "unknown", "").status, "the key is looked at first")
	assert.Equal(t, 200, c.gets(decisions, sound, "inference", strings.Repeat("~", 128)).status)
}

// A failure without a charge is not kept, so a retry is executed again.
func TestAFailedReplyIsNotKept(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	c.ant.script = []error{upstream(400, router.InvalidRequest, 0)}
	assert.Equal(t, 400, c.gets(decisions, sound, "inference", "a").status)
	assert.Equal(t, 404, c.gets(decisions, strings.Replace(sound, "acme/judge", "acme/unserved", 1), "inference", "b").status)
	assert.Equal(t, 200, c.gets(decisions, sound, "inference", "a").status)
	assert.Equal(t, 200, c.gets(decisions, sound, "inference", "b").status)
}

// The reply to a client that hung up is kept for its retry. A retry that comes early
// waits for it.
func TestAHangUpThenARetry(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		c := newCounter(t)
		begun, finish := make(chan struct{}, 8), make(chan struct{})
		c.ant.took = func() { begun <- struct{}{}; <-finish }
		ctx, hangUp := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := c.ask(ctx, decisions, sound, "inference", "a")
			ended <- err
		}()
		<-begun
		hangUp()
		require.ErrorIs(t, <-ended, context.Canceled)
		<-c.gone // the server has noticed the hang-up
		var retry sync.WaitGroup
		var reply got
		if early {
			retry.Go(func() { reply = c.gets(decisions, sound, "inference", "a") })
		}
		close(finish)
		retry.Wait()
		if !early {
			reply = c.gets(decisions, sound, "inference", "a")
		}
		assert.Equal(t, 200, reply.status)
		assert.Equal(t, "true", reply.replayed)
		assert.Equal(t, 1, c.asked())
	}
}

func TestRivalsWithOneIdempotencyKey(t *testing.T) {
	t.Parallel()
	c := newCounter(t)
	var all sync.WaitGroup
	var fresh atomic.Int64
	ids := make([]string, 16)
	for i := range ids {
		all.Go(func() {
			g := c.gets(decisions, sound, "inference", "a")
			assert.Equal(t, 200, g.status)
			if ids[i] = g.id; g.replayed == "" {
				fresh.Add(1)
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		assert.Equal(t, ids[0], id)
	}
	assert.EqualValues(t, 1, fresh.Load())
	assert.Equal(t, 1, c.asked())
}
