//go:build unix

package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
)

// echo is a whole 200 that answers the request with that id.
func echo(id string) string { return reply("answer to " + id) }

// endings are ways to end a request's exchange after which the connection must
// carry no other request. %s is a whole answer to the same request. It arrives
// before the upstream has read the next one: in the same bytes, or after that was
// written.
func endings() map[string]struct{ now, late string } {
	const ok = "HTTP/1.1 200 OK\r\n"
	both := map[string]struct{ now, late string }{
		"gateway timeout, empty":   {"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 0\r\n\r\n", "%s"},
		"gateway timeout, a page":  {"HTTP/1.1 504 Gateway Timeout\r\nContent-Length: 6\r\n\r\n<html>", "%s"},
		"gateway timeout, chunks":  {"HTTP/1.1 504 Gateway Timeout\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", "%s"},
		"no content":               {"HTTP/1.1 204 No Content\r\n\r\n", "%s"},
		"redirect":                 {"HTTP/1.1 307 Temporary Redirect\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n", "%s"},
		"not modified":             {"HTTP/1.1 304 Not Modified\r\n\r\n", "%s"},
		"busy":                     {"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\n{}", "%s"},
		"status that is none":      {"HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n", "%s"},
		"hint, then sound":         {"HTTP/1.1 103 Early Hints\r\n\r\n" + reply("first"), "%s"},
		"continue, then sound":     {"HTTP/1.1 100 Continue\r\n\r\n" + reply("first"), "%s"},
		"length and chunks":        {ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n", "%s"},
		"trailer":                  {ok + "Trailer: X-A\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\nX-A: b\r\n\r\n", "%s"},
		"trailer, not announced":   {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\nX-A: b\r\n\r\n", "%s"},
		"old, kept":                {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nfirst", "%s"},
		"asked to close":           {ok + "Connection: close\r\nContent-Length: 5\r\n\r\nfirst", "%s"},
		"one byte too many":        {reply("first") + "x", ""},
		"an answer too many":       {reply("first") + "%s", ""},
		"an answer too many, long": {reply(strings.Repeat("x", 4100)) + "%s", ""},
	}
	return both
}

// gateway serves connections. The exchange of a request that names an ending ends
// in it; every other request gets its answer. It counts connections.
type gateway struct {
	base   string
	mu     sync.Mutex
	opened int
}

func newGateway(t testing.TB) *gateway {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gateway{base: "http://" + l.Addr().String()}
	var serving sync.WaitGroup
	open := map[net.Conn]bool{}
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			g.mu.Lock()
			g.opened++
			open[conn] = true
			g.mu.Unlock()
			serving.Go(func() { g.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		g.mu.Lock()
		for conn := range open {
			_ = conn.Close()
		}
		g.mu.Unlock()
		serving.Wait()
	})
	return g
}

func (g *gateway) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the end
	r := bufio.NewReader(conn)
	late := ""
	for {
		q, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		id, rest, _ := strings.Cut(string(body), " ")
		end, said := endings()[strings.TrimSpace(rest)]
		text := late + echo(id)
		late = ""
		if said {
			fill := func(s string) string { return strings.ReplaceAll(s, "%s", echo(id)) }
			text, late = fill(end.now), fill(end.late)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return
		}
	}
}

// transports are a client's two ways to a plain address.
func transports(t testing.TB, base string) map[string]*Client {
	t.Helper()
	all := map[string]*Client{}
	for _, name := range []string{"kept", "transport", "given"} {
		cfg := Config{BaseURL: base, KeyOptional: true}
		if name == "given" {
			theirs := &http.Transport{}
			t.Cleanup(theirs.CloseIdleConnections)
			cfg.HTTP = &http.Client{Transport: theirs}
		}
		c, err := New(cfg)
		require.NoError(t, err)
		if name == "transport" {
			c.kept = nil
		}
		all[name] = c
	}
	return all
}

// TestLateAnswer: what an upstream sends after a reply that was not a plain 200, or
// behind one, is never the answer to the next request, whichever way that request
// takes.
func TestLateAnswer(t *testing.T) {
	discardLog(t)
	g := newGateway(t)
	for way, c := range transports(t, g.base) {
		for name := range endings() {
			t.Run(way+", "+name, func(t *testing.T) {
				for i := range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					_, _ = ask(ctx, c, fmt.Sprintf("first-%d %s", i, name)) // both a refusal and an answer are valid
					got, err := ask(ctx, c, fmt.Sprintf("next-%d", i))
					cancel()
					require.NoError(t, err, "a sound request is not lost")
					require.Equal(t, fmt.Sprintf("answer to next-%d", i), got)
				}
			})
		}
	}
}

// TestLateAnswerAmongMany: the same with callers that wait for each other's
// connections, over generated orders of endings.
func TestLateAnswerAmongMany(t *testing.T) {
	discardLog(t)
	g := newGateway(t)
	ways := transports(t, g.base)
	names := []string{""}
	for name := range endings() {
		names = append(names, name)
	}
	rapid.Check(t, func(draw *rapid.T) {
		c := ways[rapid.SampledFrom([]string{"kept", "transport", "given"}).Draw(draw, "way")]
		padding := strings.Repeat(" ", rapid.SampledFrom([]int{0, keptBytes + 1}).Draw(draw, "padding"))
		callers := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(names), 1, 6), 1, 6).Draw(draw, "callers")
		var group sync.WaitGroup
		for n, asks := range callers {
			group.Go(func() {
				for i, ending := range asks {
					id := fmt.Sprintf("%d/%d", n, i)
					got, err := ask(t.Context(), c, id+" "+ending+padding)
					if ending == "" {
						assert.Equal(draw, "answer to "+id, got, err)
					} else if err == nil {
						assert.NotContains(draw, got, "answer to", ending)
					}
				}
			})
		}
		group.Wait()
	})
}

// secured is an upstream behind TLS that counts connections. A request whose body
// begins with "504" gets that status; any other one is answered with its body.
func secured(t *testing.T, http2 bool) (*Client, *atomic.Int64) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(string(body), "504") {
			w.WriteHeader(http.StatusGatewayTimeout)
			return
		}
		_, _ = w.Write(body)
	}))
	opened := &atomic.Int64{}
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := New(Config{BaseURL: server.URL, KeyOptional: true})
	require.NoError(t, err)
	trust(c, server.Certificate())
	t.Cleanup(func() {
		for conn := c.kept.pop(); conn != nil; conn = c.kept.pop() {
			conn.hangUp()
		}
	})
	return c, opened
}

func trust(c *Client, certificate *x509.Certificate) {
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	c.kept.tls.RootCAs = roots
	if theirs, ok := c.transport.(*http.Transport); ok {
		theirs.TLSClientConfig.RootCAs = roots
	}
}

// TestTLS: the same rules apply behind TLS. Sound connections of HTTP/1.1 are
// reused, others are not, and HTTP/2 shares one, whatever the statuses of its
// streams.
func TestTLS(t *testing.T) {
	for name, c := range map[string]struct {
		http2        bool
		size, status string
		connections  int64
	}{
		"small":                 {size: " ", connections: 1},
		"small, refused":        {size: " ", status: "504", connections: 8},
		"large":                 {size: strings.Repeat(" ", keptBytes+1), connections: 8},
		"large, refused":        {size: strings.Repeat(" ", keptBytes+1), status: "504", connections: 8},
		"HTTP/2, small":         {http2: true, size: " ", connections: 2}, // the first finds out
		"HTTP/2, small, broken": {http2: true, size: " ", status: "504", connections: 2},
		"HTTP/2, large, broken": {http2: true, size: strings.Repeat(" ", keptBytes+1), status: "504", connections: 1},
	} {
		t.Run(name, func(t *testing.T) {
			client, opened := secured(t, c.http2)
			for i := range 8 {
				want := fmt.Sprint(c.status, " ", i, c.size)
				got, err := ask(t.Context(), client, want)
				if c.status == "" {
					require.NoError(t, err)
					assert.Equal(t, want, got)
					continue
				}
				failed, ok := errors.AsType[*router.UpstreamError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, router.Timeout, failed.Class)
			}
			assert.Equal(t, c.connections, opened.Load())
		})
	}
}

// TestUnaskedBehindTLS: unasked bytes are detected behind TLS as well, even where
// TLS has read but not returned them.
func TestUnaskedBehindTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	certified := httptest.NewUnstartedServer(nil)
	certified.StartTLS()
	defer certified.Close()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close() //nolint:errcheck // the end
				// Two records in one write: the second is read along with the first.
				both := &gathered{Conn: conn}
				far := tls.Server(both, &tls.Config{Certificates: certified.TLS.Certificates, MinVersion: tls.VersionTLS12})
				r := bufio.NewReader(far)
				for {
					q, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					body, _ := io.ReadAll(q.Body)
					both.hold = true
					_, _ = io.WriteString(far, echo(string(body)))
					_, _ = io.WriteString(far, echo("stray"))
					both.release()
				}
			})
		}
	})
	c, err := New(Config{BaseURL: "https://" + l.Addr().String(), KeyOptional: true})
	require.NoError(t, err)
	trust(c, certified.Certificate())
	for i := range 20 {
		got, err := ask(t.Context(), c, strconv.Itoa(i))
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint("answer to ", i), got)
	}
	for conn := c.kept.pop(); conn != nil; conn = c.kept.pop() {
		conn.hangUp()
	}
	require.NoError(t, l.Close())
	serving.Wait()
}

// gathered is a connection that can combine several writes into one.
type gathered struct {
	net.Conn
	hold bool
	text []byte
}

func (g *gathered) Write(p []byte) (int, error) {
	if g.hold {
		g.text = append(g.text, p...)
		return len(p), nil
	}
	return g.Conn.Write(p)
}

func (g *gathered) release() {
	_, _ = g.Conn.Write(g.text)
	g.hold, g.text = false, nil
}

// BenchmarkReuse is the cost of a small request on a reused connection, and on one
// of its own.
func BenchmarkReuse(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	for name, c := range transports(b, server.URL) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ask(b.Context(), c, "{}"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
