package httpapi_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// listener is a listener of in-memory connections.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	close(l.closed)
	return nil
}

func (*listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// dial serves g with an http.Server until the test ends and returns a connection to it.
func (g *rig) dial(t *testing.T) net.Conn {
	t.Helper()
	l := &listener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	server := &http.Server{Handler: g.handler, ReadTimeout: 8 * time.Second, MaxHeaderBytes: 32 << 10}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	client, far := net.Pipe()
	l.conns <- far
	t.Cleanup(func() {
		_ = client.Close()
		assert.NoError(t, server.Shutdown(context.WithoutCancel(t.Context()))) // waits for every connection
		assert.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return client
}

// head is a request's head with the inference key.
func (g *rig) head(extra ...string) string {
	lines := append([]string{"POST /systemone HTTP/1.1", "Host: x", "Authorization: Bearer " + string(g.keys["inference"])}, extra...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// talk writes sent and reads one reply at the same time. While the server does not
// read, writing blocks.
func talk(t *testing.T, c net.Conn, sent string) reply {
	t.Helper()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(c, sent)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	t.Cleanup(func() {
		_ = c.Close()
		<-written
	})
	return reply{status: resp.StatusCode, header: resp.Header, body: body}
}

func TestOverTheWire(t *testing.T) {
	chunk := "fffff\r\n" + strings.Repeat("x", 0xfffff) + "\r\n"
	for name, c := range map[string]struct {
		sent   func(g *rig) string
		status int
		after  time.Duration // on the server's clock
	}{
		"sound": {func(g *rig) string {
			return g.head("Content-Length: "+strconv.Itoa(len(sound))) + sound
		}, 200, 0},
		"chunked": {func(g *rig) string {
			return g.head("Transfer-Encoding: chunked") + "1\r\n{\r\n" + "0\r\n\r\n"
		}, 400, 0},
		"chunked over the limit": {func(g *rig) string {
			return g.head("Transfer-Encoding: chunked") + strings.Repeat(chunk, 6) + "0\r\n\r\n"
		}, 413, 0},
		"announced over the limit, sent all the same": {func(g *rig) string {
			return g.head("Content-Length: 6000000") + strings.Repeat("x", 6000000)
		}, 413, 0},
		"chunked and announced": {func(g *rig) string {
			return g.head("Content-Length: 3", "Transfer-Encoding: chunked") + "0\r\n\r\n"
		}, 400, 0},
		"two lengths": {func(g *rig) string {
			return g.head("Content-Length: 3", "Content-Length: 4") + "{}"
		}, 400, 0},
		"broken chunk": {func(g *rig) string {
			return g.head("Transfer-Encoding: chunked") + "zz\r\n"
		}, 400, 0},
		"waits for a 100, too large": {func(g *rig) string {
			return g.head("Expect: 100-continue", "Content-Length: 6000000")
		}, 413, 0},
		"waits for a 100, no key": {func(*rig) string {
			return "POST /systemone HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n"
		}, 401, 0},
		"waits for a 100": {func(g *rig) string {
			return g.head("Expect: 100-continue", "Content-Length: 10")
		}, 100, 0},
		"the body drips": {func(g *rig) string {
			return g.head("Content-Length: "+strconv.Itoa(len(sound))) + sound[:20]
		}, 400, 8 * time.Second},
		"too large a body drips": {func(g *rig) string {
			return g.head("Content-Length: 6000000") + sound[:20]
		}, 413, 5 * time.Second},
		"huge header": {func(g *rig) string {
			return g.head("X-Session-Id: " + strings.Repeat("x", 40<<10))
		}, 431, 500 * time.Millisecond}, // net/http lets the caller read before it closes
		"bare line feed in a header": {func(g *rig) string {
			return g.head("X-Request-Id: a\nX-Evil: 1", "Content-Length: "+strconv.Itoa(len(sound))) + sound
		}, 200, 0},
		"odd host": {func(*rig) string {
			return "POST /systemone HTTP/1.1\r\nHost: x/#@y\r\nContent-Length: 0\r\n\r\n"
		}, 400, 0}, // net/http refuses it
		"absolute address": {func(*rig) string {
			return "POST http://evil.example/systemone HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
		}, 401, 0},
		"asterisk": {func(*rig) string { return "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" }, 200, 0}, // net/http answers it
		"trace":    {func(*rig) string { return "TRACE /systemone HTTP/1.1\r\nHost: x\r\n\r\n" }, 405, 0},
		"old protocol": {func(g *rig) string {
			return strings.Replace(g.head("Content-Length: "+strconv.Itoa(len(sound))), "HTTP/1.1", "HTTP/1.0", 1) + sound
		}, 200, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t)
				started := time.Now()
				got := talk(t, g.dial(t), c.sent(g))
				assert.Equal(t, c.status, got.status)
				assert.Equal(t, c.after, time.Since(started))
				assert.Empty(t, got.header.Get("X-Evil"))
			})
		})
	}
}

// The read deadline of a connection uses the real clock, not the handler's.
func TestDrainingLooksAtNoInjectedClock(t *testing.T) {
	for name, year := range map[string]int{"behind": 1990, "ahead": 2190} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, func(c *httpapi.Config, _ *router.Config) {
					c.Now = func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
				})
				started := time.Now()
				got := talk(t, g.dial(t), g.head("Content-Length: 6000000")+sound[:20])
				assert.Equal(t, 413, got.status)
				assert.Equal(t, 5*time.Second, time.Since(started))
			})
		})
	}
}

func TestAPanicDoesNotCostTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		g.ant.panics = true
		c := g.dial(t)
		request := g.head("Content-Length: "+strconv.Itoa(len(sound))) + sound
		assert.Equal(t, 500, talk(t, c, request).status)
		g.ant.panics = false
		assert.Equal(t, 200, talk(t, c, request).status)
	})
}

func TestHangingUpCancelsTheUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		g.ant.wait, g.bee.wait = true, true
		c := g.dial(t)
		started := time.Now()
		_, err := io.WriteString(c, g.head("Content-Length: "+strconv.Itoa(len(sound)))+sound)
		require.NoError(t, err)
		synctest.Wait()
		require.NoError(t, c.Close())
		synctest.Wait()
		g.ant.mu.Lock() // unlocked when the attempt has ended
		defer g.ant.mu.Unlock()
		assert.Len(t, g.ant.seen, 1)
		assert.Zero(t, time.Since(started), "no deadline had to pass")
		assert.Empty(t, g.bee.seen, "nobody else is asked")
		assert.Empty(t, g.log.String(), "nobody failed")
	})
}

func TestDeadlineOfAnEmbedder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t)
		g.ant.wait, g.bee.wait = true, true
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r := g.request(t, http.MethodPost, "/systemone", sound, "inference").WithContext(ctx)
		assert.Equal(t, 524, g.serve(t, g.handler, r).Code)
	})
}

// slowBody is a body whose end arrives after a delay.
type slowBody struct {
	io.Reader

	after time.Duration
}

func (b *slowBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil { // on synctest's clock, so the test does not wait
		<-time.After(b.after)
	}
	return n, err
}

func TestNativeDeadlineBeginsWithTheRequest(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		reading time.Duration
		status  int
		after   time.Duration
		asked   int // of both providers
	}{
		"at once":             {"native", 0, 524, 9 * time.Second, 2},
		"slow body":           {"native", 6 * time.Second, 524, 9 * time.Second, 2},
		"body takes all":      {"native", 9 * time.Second, 524, 9 * time.Second, 0},
		"body takes too long": {"native", 20 * time.Second, 524, 20 * time.Second, 0},
		"not native":          {"api", 12 * time.Second, 524, 42 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, func(_ *httpapi.Config, cfg *router.Config) { cfg.AttemptTimeout = time.Minute })
				g.ant.wait, g.bee.wait = true, true
				h := http.Handler(g.handler)
				if c.path == "native" {
					h = g.native
				}
				r := g.request(t, http.MethodPost, "/systemone", "", "inference")
				r.Body, r.ContentLength = io.NopCloser(&slowBody{strings.NewReader(sound), c.reading}), -1
				started := time.Now()
				assert.Equal(t, c.status, g.serve(t, h, r).Code)
				assert.Equal(t, c.after, time.Since(started))
				assert.Equal(t, c.asked, len(g.ant.seen)+len(g.bee.seen))
			})
		})
	}
}

// A hanging upstream is failed over on the native surface. Three such attempts mark an
// outage. A caller that spends its time on sending the body marks none.
func TestNativeCallersAreFailedOver(t *testing.T) {
	for name, c := range map[string]struct {
		reading, took time.Duration
		outage        bool
	}{
		"at once":   {took: 4500 * time.Millisecond, outage: true},
		"slow body": {reading: 8 * time.Second, took: 8500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t)
			g.ant.wait = true
			for range 5 {
				body := with(`"provider":{"order":["ant"]}`)
				r := g.request(t, http.MethodPost, "/systemone", "", "inference")
				r.Body, r.ContentLength = io.NopCloser(&slowBody{strings.NewReader(body), c.reading}), -1
				began := time.Now()
				require.Equal(t, 200, g.serve(t, g.native, r).Code, name)
				assert.Equal(t, c.took, time.Since(began), name)
			}
			assert.Len(t, g.ant.seen, 5, name)
			ant := g.router.Catalog().Endpoints()[0]
			require.Equal(t, "ant", ant.Provider)
			assert.Equal(t, c.outage, g.router.Health(ant.ID).Outage, name)
		})
	}
}
