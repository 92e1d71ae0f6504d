package upstream_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
)

// tripper is a transport in memory.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)),
	}
}

func client(t *testing.T, cfg upstream.Config, trip tripper) (*upstream.Client, upstream.Target) {
	t.Helper()
	cfg.BaseURL, cfg.KeyOptional = "https://api.example.com/v1", true
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{}
	}
	cfg.HTTP.Transport = trip
	c, err := upstream.New(cfg)
	require.NoError(t, err)
	to, err := c.Target("/x")
	require.NoError(t, err)
	return c, to
}

func send(ctx context.Context, c *upstream.Client, to upstream.Target, body string) (upstream.Reply, error) {
	b := c.Buffer()
	b.B = append(b.B, body...)
	return c.Post(ctx, to, &router.Attempt{}, b)
}

func failed(t *testing.T, err error) *router.UpstreamError {
	t.Helper()
	e, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok, "%v", err)
	return e
}

// TestReplayOfUnsentRequest: a transport that finds a kept connection closed before
// it wrote anything may read the body again, even after it closed the first reader.
func TestReplayOfUnsentRequest(t *testing.T) {
	c, to := client(t, upstream.Config{}, func(r *http.Request) (*http.Response, error) {
		first := make([]byte, 3)
		_, err := io.ReadFull(r.Body, first)
		require.NoError(t, err)
		require.NoError(t, r.Body.Close())
		again, err := r.GetBody()
		require.NoError(t, err)
		whole, err := io.ReadAll(again)
		require.NoError(t, err)
		require.NoError(t, again.Close())
		require.NoError(t, again.Close(), "closing twice is harmless")
		return reply(http.StatusOK, string(whole)), nil
	})
	got, err := send(t.Context(), c, to, "0123456789")
	require.NoError(t, err)
	assert.Equal(t, "0123456789", string(got.Data))
	got.Release()
}

// TestLateReader: a transport may still read a body after RoundTrip has returned,
// so its bytes must not be lent again.
func TestLateReader(t *testing.T) {
	var late io.ReadCloser
	c, to := client(t, upstream.Config{}, func(r *http.Request) (*http.Response, error) {
		if late == nil {
			late = r.Body
			return nil, errors.New("broken")
		}
		_ = r.Body.Close()
		return reply(http.StatusOK, "{}"), nil
	})
	_, err := send(t.Context(), c, to, "first body")
	require.Error(t, err)
	for range 10 {
		got, err := send(t.Context(), c, to, "other body")
		require.NoError(t, err)
		got.Release()
	}
	data, err := io.ReadAll(late)
	require.NoError(t, err)
	assert.Equal(t, "first body", string(data))
	require.NoError(t, late.Close())
}

func TestMaxReplyBytes(t *testing.T) {
	for size, ok := range map[int]bool{0: true, 99: true, 100: true, 101: false, 100_000: false} {
		c, to := client(t, upstream.Config{MaxReplyBytes: 100}, func(*http.Request) (*http.Response, error) {
			return reply(http.StatusOK, strings.Repeat("x", size)), nil
		})
		got, err := send(t.Context(), c, to, "{}")
		if ok {
			require.NoError(t, err)
			assert.Len(t, got.Data, size)
			got.Release()
			continue
		}
		assert.True(t, failed(t, err).BadReply)
	}
}

// TestRefusedUnread: a reply that announces too many bytes, or that is compressed,
// is refused before a byte of it is read.
func TestRefusedUnread(t *testing.T) {
	for name, change := range map[string]func(*http.Response){
		"announced": func(r *http.Response) { r.ContentLength = 101 },
		"encoded":   func(r *http.Response) { r.Header.Set("Content-Encoding", "gzip") },
	} {
		body := strings.NewReader("{}")
		c, to := client(t, upstream.Config{MaxReplyBytes: 100}, func(*http.Request) (*http.Response, error) {
			r := reply(http.StatusOK, "")
			r.Body = io.NopCloser(body)
			change(r)
			return r, nil
		})
		_, err := send(t.Context(), c, to, "{}")
		assert.True(t, failed(t, err).BadReply, name)
		assert.Equal(t, 2, body.Len(), name)
	}
}

// TestMaxInFlightBytes: bodies count until they are released, and no longer.
func TestMaxInFlightBytes(t *testing.T) {
	c, to := client(t, upstream.Config{MaxInFlightBytes: 64 << 10}, func(*http.Request) (*http.Response, error) {
		return reply(http.StatusOK, strings.Repeat("x", 10_000)), nil
	})
	var held []upstream.Reply
	for range 100 {
		got, err := send(t.Context(), c, to, "{}")
		if err != nil {
			e := failed(t, err)
			assert.Equal(t, router.NoCapacity, e.Class)
			assert.True(t, e.Local, "the upstream did answer")
			require.NotErrorIs(t, err, router.ErrNotSent)
			break
		}
		held = append(held, got)
	}
	require.NotEmpty(t, held)
	require.Less(t, len(held), 10, "the bound holds")
	for _, h := range held {
		h.Release()
	}
	for range 100 {
		got, err := send(t.Context(), c, to, "{}")
		require.NoError(t, err, "what was given back counts no more")
		got.Release()
	}
	sent := false
	c, to = client(t, upstream.Config{MaxInFlightBytes: 64 << 10}, func(*http.Request) (*http.Response, error) {
		sent = true
		return reply(http.StatusOK, "{}"), nil
	})
	_, err := send(t.Context(), c, to, strings.Repeat("x", 100_000))
	assert.Equal(t, router.NoCapacity, failed(t, err).Class)
	require.ErrorIs(t, err, router.ErrNotSent)
	assert.False(t, sent)
}

func TestTimeoutOfTheGivenClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, to := client(t, upstream.Config{HTTP: &http.Client{Timeout: 3 * time.Second}}, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		_, err := send(t.Context(), c, to, "{}")
		assert.Equal(t, router.Timeout, failed(t, err).Class)
		assert.Equal(t, 3*time.Second, time.Since(began))
	})
}

// drip is a body that yields a byte now and then, until it is closed.
type drip chan struct{}

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(100 * time.Millisecond):
		return copy(p, "x"), nil
	case <-d:
		return 0, io.ErrClosedPipe
	}
}

func (d drip) Close() error {
	select {
	case <-d:
	default:
		close(d)
	}
	return nil
}

// TestDrippingErrorBody: reading the body of a failure takes at most a second.
func TestDrippingErrorBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, to := client(t, upstream.Config{}, func(*http.Request) (*http.Response, error) {
			r := reply(http.StatusTooManyRequests, "")
			r.Header.Set("Retry-After", "7")
			r.Body = make(drip)
			return r, nil
		})
		began := time.Now()
		_, err := send(t.Context(), c, to, "{}")
		e := failed(t, err)
		assert.Equal(t, router.RateLimitExceeded, e.Class)
		assert.Equal(t, 7*time.Second, e.RetryAfter)
		assert.LessOrEqual(t, time.Since(began), 2*time.Second)
	})
}

func TestRequestIDHeader(t *testing.T) {
	var ids []string
	c, to := client(t, upstream.Config{RequestIDHeader: "x-request-id"}, func(r *http.Request) (*http.Response, error) {
		ids = append(ids, strings.Join(r.Header["X-Request-Id"], ","))
		return reply(http.StatusOK, "{}"), nil
	})
	for _, id := range []string{"one", "", "two"} {
		got, err := c.Post(t.Context(), to, &router.Attempt{RequestID: id}, c.Buffer())
		require.NoError(t, err)
		got.Release()
	}
	assert.Equal(t, []string{"one", "", "two"}, ids, "no id stays behind for the next request")
}

func TestTransport(t *testing.T) {
	tr := upstream.NewTransport()
	assert.Nil(t, tr.Proxy)
	assert.True(t, tr.DisableCompression)
	assert.Positive(t, tr.MaxIdleConns)
	assert.Positive(t, tr.MaxIdleConnsPerHost)
	assert.Positive(t, tr.MaxResponseHeaderBytes)
	assert.Positive(t, tr.ResponseHeaderTimeout)
	assert.GreaterOrEqual(t, tr.TLSClientConfig.MinVersion, uint16(0x0303))
	assert.NotSame(t, tr, upstream.NewTransport())
}

// TestEnvironmentProxy: a proxy of the environment is not used.
func TestEnvironmentProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer server.Close()
	c, err := upstream.New(upstream.Config{BaseURL: server.URL, KeyOptional: true})
	require.NoError(t, err)
	post(t, c, "{}").Release()
}

// TestKeptConnections: replies are read to their end, so that a connection
// serves many requests.
func TestKeptConnections(t *testing.T) {
	connections := map[string]bool{}
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		connections[r.RemoteAddr] = true
		if len(connections)%2 == 0 {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write([]byte(`{"error":"x"}`))
	}))
	defer server.Close()
	c, err := upstream.New(upstream.Config{BaseURL: server.URL, KeyOptional: true, Rules: upstream.CommonRules()})
	require.NoError(t, err)
	to, err := c.Target("/x")
	require.NoError(t, err)
	for range 20 {
		if got, err := send(t.Context(), c, to, "{}"); err == nil {
			got.Release()
		}
	}
	assert.Len(t, connections, 1)
}

// TestLargeBuffersAreForgotten: after a body that was too large, a normal one is
// accepted as before.
func TestLargeBuffersAreForgotten(t *testing.T) {
	size := 10
	c, to := client(t, upstream.Config{MaxInFlightBytes: 64 << 10}, func(*http.Request) (*http.Response, error) {
		return reply(http.StatusOK, strings.Repeat("x", size)), nil
	})
	_, err := send(t.Context(), c, to, strings.Repeat("x", 100_000))
	require.ErrorIs(t, err, router.ErrNotSent)
	for _, size = range []int{10, 100_000, 10, 10} {
		got, err := send(t.Context(), c, to, "{}")
		if size > 64<<10 {
			assert.Equal(t, router.NoCapacity, failed(t, err).Class)
			continue
		}
		require.NoError(t, err)
		got.Release()
	}
}

// TestHeaderNames: a header that cannot be sent, or that controls the framing of a
// request, is refused for keys and ids.
func TestHeaderNames(t *testing.T) {
	for _, name := range []string{"X Key", "X-Key:", "X\r\nKey", "X-K\u00e9y", "X/Key", "host", "Content-Length", "transfer-encoding", "Trailer", "Connection", "expect"} {
		_, err := upstream.New(upstream.Config{BaseURL: "http://127.0.0.1:1", Auth: upstream.AuthHeader, KeyHeader: name, Key: "sk-1"})
		require.ErrorIs(t, err, router.ErrConfig, name)
		assert.NotContains(t, err.Error(), "sk-1")
		_, err = upstream.New(upstream.Config{BaseURL: "http://127.0.0.1:1", RequestIDHeader: name, Key: "sk-1"})
		require.ErrorIs(t, err, router.ErrConfig, name)
	}
	for _, name := range []string{"x-api-key", "api-key", "X_Key.1", "x~!|"} {
		_, err := upstream.New(upstream.Config{BaseURL: "http://127.0.0.1:1", Auth: upstream.AuthHeader, KeyHeader: name, RequestIDHeader: name, Key: "sk-1"})
		require.NoError(t, err, name)
	}
}
