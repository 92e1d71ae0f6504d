//go:build unix

package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// host is an upstream that sends text to the first request. If it is to end that
// connection, it reads nothing more from it. Every other request gets its reply.
type host struct {
	base   string
	asked  atomic.Int64
	served sync.WaitGroup // connections that are still served
}

func hostile(t *testing.T, text string, end func(net.Conn)) *host {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &host{base: "http://" + l.Addr().String()}
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h.served.Go(func() { h.serve(conn, text, end) })
		}
	})
	t.Cleanup(accepting.Wait)
	t.Cleanup(func() { _ = l.Close() })
	return h
}

func (h *host) serve(conn net.Conn, text string, end func(net.Conn)) {
	defer conn.Close() //nolint:errcheck // the other side has ended it
	r := bufio.NewReader(conn)
	for {
		q, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, q.Body)
		if h.asked.Add(1) > 1 {
			_, _ = io.WriteString(conn, reply("next"))
			continue
		}
		_, _ = io.WriteString(conn, text)
		if end != nil {
			end(conn)
			return
		}
	}
}

func fin(conn net.Conn) { _ = conn.Close() }

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// discardLog discards what an http.Transport logs about unasked bytes.
func discardLog(t testing.TB) {
	t.Helper()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

// outcome is what a caller sees of an attempt.
type outcome struct {
	data      string
	class     router.Class
	status    int
	badReply  bool
	unchecked string
}

func outcomeOf(data string, err error) outcome {
	if failed, ok := errors.AsType[*router.UpstreamError](err); ok {
		return outcome{class: failed.Class, status: failed.Status, badReply: failed.BadReply}
	}
	if err != nil {
		return outcome{unchecked: err.Error()}
	}
	return outcome{data: data}
}

// hostiles are broken, odd or misleading replies. The next request on their
// connection must not get what is left of them.
func hostiles() map[string]string {
	const ok, chunks = "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
	stray := reply("stray")
	return map[string]string{
		"sound":                      reply("body"),
		"more than announced":        reply("body") + stray,
		"two at once, empty":         reply("") + stray,
		"interim, then sound":        "HTTP/1.1 102 Processing\r\n\r\n" + reply("body"),
		"interim with a length":      "HTTP/1.1 103 Early Hints\r\nContent-Length: 900\r\n\r\n" + reply("body"),
		"other protocol":             "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n" + stray,
		"status that is none":        "HTTP/1.1 099 Odd\r\nContent-Length: 42\r\n\r\n" + stray,
		"no content, with some":      "HTTP/1.1 204 No Content\r\nContent-Length: 42\r\n\r\n" + stray,
		"not modified, with some":    "HTTP/1.1 304 Not Modified\r\nContent-Length: 42\r\n\r\n" + stray,
		"redirect":                   "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
		"refusal":                    "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\n{}",
		"refusal, more than is read": "HTTP/1.1 500 Oh\r\nContent-Length: 99999\r\n\r\n" + strings.Repeat("x", 99999),
		"announced too large":        ok + "Content-Length: 99999999\r\n\r\n" + stray,
		"packed":                     ok + "Content-Encoding: gzip\r\nContent-Length: 42\r\n\r\n" + stray,
		"extensions and trailers":    chunks + "\r\n4;a=b;c=\"d\"\r\nbody\r\n0\r\nX-Late: 1\r\n\r\n",
		"length and chunks":          chunks + "Content-Length: 3\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
		"chunk too large":            chunks + "\r\n7fffffffffffffffff\r\n" + stray,
		"chunk below zero":           chunks + "\r\n-4\r\nbody\r\n0\r\n\r\n",
		"chunk of no size":           chunks + "\r\n\r\nbody\r\n0\r\n\r\n",
		"chunk without its end":      chunks + "\r\n4\r\nbodyX\r\n0\r\n\r\n",
		"endless extension":          chunks + "\r\n4;" + strings.Repeat("x", 99999),
		"endless trailer":            chunks + "\r\n0\r\nX-Late: " + strings.Repeat("x", 99999),
		"chunks behind others":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + stray,
		"chunks twice":               chunks + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"lengths that agree":         ok + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
		"lengths that do not":        ok + "Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody!",
		"length with a sign":         ok + "Content-Length: +4\r\n\r\nbody",
		"length below zero":          ok + "Content-Length: -4\r\n\r\nbody",
		"length in a list":           ok + "Content-Length: 4, 4\r\n\r\nbody",
		"length beyond count":        ok + "Content-Length: 99999999999999999999\r\n\r\nbody",
		"endless line":               "HTTP/1.1 200 " + strings.Repeat("x", 2*headerBytes),
		"endless headers":            ok + strings.Repeat("X-A: b\r\n", headerBytes/4),
	}
}

// TestHostileReplies: for any reply, a kept connection and an http.Transport have
// the same outcome. The next request over a kept has its own reply, and no
// connection stays open except a pooled one.
func TestHostileReplies(t *testing.T) {
	discardLog(t)
	for name, text := range hostiles() {
		t.Run(name, func(t *testing.T) {
			var outcomes []outcome
			for _, own := range []bool{true, false} {
				h := hostile(t, text, nil)
				c, err := New(Config{BaseURL: h.base, KeyOptional: true, MaxReplyBytes: 1 << 20})
				require.NoError(t, err)
				k, theirs := c.kept, NewTransport()
				if !own {
					c.kept, c.transport = nil, theirs
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				got, err := ask(ctx, c, "{}")
				outcomes = append(outcomes, outcomeOf(got, err))
				require.NotErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, int64(1), h.asked.Load(), "nothing is sent twice")
				if own { // an http.Transport may detect what is left only after the next request
					got, err = ask(ctx, c, "{}")
					require.NoError(t, err)
					assert.Equal(t, "next", got)
				}
				cancel()
				for c := k.pop(); c != nil; c = k.pop() {
					c.hangUp()
				}
				theirs.CloseIdleConnections()
				h.served.Wait()
			}
			assert.Equal(t, outcomes[1], outcomes[0])
		})
	}
}

// TestEndedConnections: a request that an upstream may have read before it closed
// the connection is not sent again, on a new and on a reused connection. Where the
// upstream closed it before, the request is not lost.
func TestEndedConnections(t *testing.T) {
	for name, end := range map[string]func(net.Conn){"closed": fin, "reset": reset} {
		for at, text := range map[string]string{
			"at once":     "",
			"in its head": "HTTP/1.1 200 OK\r\nContent-",
			"in its body": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbody",
		} {
			t.Run(name+" "+at, func(t *testing.T) {
				h := hostile(t, text, end)
				c, k := clientTo(t, h.base)
				h.asked.Store(1) // the first that is sent has its reply
				got, err := ask(t.Context(), c, "{}")
				require.NoError(t, err)
				require.Equal(t, "next", got)
				require.Equal(t, 1, count(k))
				h.asked.Store(0)
				_, err = ask(t.Context(), c, "{}")
				failed, ok := errors.AsType[*router.UpstreamError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, router.ProviderUnavailable, failed.Class)
				assert.Equal(t, int64(1), h.asked.Load(), "it is not sent again")
				assert.Zero(t, count(k))
			})
		}
	}
	t.Run("reset while idle", func(t *testing.T) {
		h := hostile(t, reply("one"), reset)
		c, k := clientTo(t, h.base)
		for _, want := range []string{"one", "next"} {
			got, err := ask(t.Context(), c, "{}")
			require.NoError(t, err)
			assert.Equal(t, want, got)
			if want == "one" {
				require.Error(t, idle(t, k))
			}
		}
	})
}

// TestContextEndsAnywhere: the end of a context ends an exchange at every stage,
// with its connection.
func TestContextEndsAnywhere(t *testing.T) {
	for name, far := range map[string]func(net.Conn){
		"nothing is read": func(net.Conn) {},
		"a part is read":  func(c net.Conn) { _, _ = io.CopyN(io.Discard, c, 10) },
		"nothing is said": func(c net.Conn) { say(c, "") },
		"within the line": func(c net.Conn) { say(c, "HTTP/1.") },
		"after a hint":    func(c net.Conn) { say(c, "HTTP/1.1 103 Early Hints\r\n\r\n") },
		"within the head": func(c net.Conn) { say(c, "HTTP/1.1 200 OK\r\nContent-Le") },
		"before the body": func(c net.Conn) { say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n") },
		"within the body": func(c net.Conn) { say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody") },
		"before its end":  func(c net.Conn) { say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n") },
	} {
		for _, cancelled := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				c, k := clientTo(t, "http://127.0.0.1:1")
				near, conn := pipe(k)
				k.idle = append(k.idle, near)
				want, limit := context.DeadlineExceeded, 3*time.Second
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if cancelled {
					want, limit = context.Canceled, time.Second
					time.AfterFunc(limit, cancel)
				}
				var played sync.WaitGroup
				played.Go(func() {
					far(conn)
					<-ctx.Done()
					_, _ = io.Copy(io.Discard, conn) // until it is closed
				})
				began := time.Now()
				_, err := ask(ctx, c, strings.Repeat("x", 100))
				require.ErrorIs(t, err, want, name)
				assert.Equal(t, limit, time.Since(began), name)
				assert.Zero(t, count(k), name)
				played.Wait()
			})
		}
	}
}

// say takes a request and writes text.
func say(conn net.Conn, text string) {
	q, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, q.Body)
	_, _ = io.WriteString(conn, text)
}

// TestSameRequest: both ways send the same request.
func TestSameRequest(t *testing.T) {
	type asked struct {
		host, uri, body  string
		length           int64
		transferEncoding []string
		header           http.Header
	}
	var last asked
	h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last = asked{r.Host, r.RequestURI, string(body), r.ContentLength, r.TransferEncoding, r.Header}
	})
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("no %s here: %v", address, err)
			continue
		}
		server := &httptest.Server{Listener: l, Config: &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}}
		server.Start()
		defer server.Close()
		for _, body := range []string{"{}", strings.Repeat("x", keptBytes)} {
			var both []asked
			for _, own := range []bool{true, false} {
				c, err := New(Config{BaseURL: "http://" + l.Addr().String() + "//v1/a:b/", RequestIDHeader: "x-id", Key: "sk-1"})
				require.NoError(t, err)
				if !own {
					c.kept = nil
				}
				to, err := c.Target("/@cf/m~1")
				require.NoError(t, err)
				b := c.Buffer()
				b.B = append(b.B, body...)
				got, err := c.Post(t.Context(), to, &router.Attempt{RequestID: "id 1", Credential: "sk-own"}, b)
				require.NoError(t, err)
				got.Release()
				both = append(both, last)
			}
			assert.Equal(t, both[1], both[0])
			assert.Equal(t, "//v1/a:b/@cf/m~1", both[0].uri)
			assert.Equal(t, "Bearer sk-own", both[0].header.Get("Authorization"))
		}
	}
}
