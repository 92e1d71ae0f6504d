//go:build unix

package upstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// script serves connections by hand: the n-th talk serves the n-th connection.
func script(t *testing.T, talk ...func(conn net.Conn, r *bufio.Reader)) (*Client, *kept) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var served sync.WaitGroup
	served.Go(func() {
		for _, f := range talk {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close() //nolint:errcheck // the end of the script
				f(conn, bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(served.Wait)
	t.Cleanup(func() { _ = l.Close() })
	return clientTo(t, "http://"+l.Addr().String())
}

func clientTo(t *testing.T, base string) (*Client, *kept) {
	t.Helper()
	c, err := New(Config{BaseURL: base, KeyOptional: true})
	require.NoError(t, err)
	k := c.kept
	require.NotNil(t, k, "for a plain address")
	t.Cleanup(func() {
		for c := k.pop(); c != nil; c = k.pop() {
			c.hangUp()
		}
	})
	return c, k
}

func ask(ctx context.Context, c *Client, body string) (string, error) {
	to, err := c.Target("/x")
	if err != nil {
		return "", err
	}
	b := c.Buffer()
	b.B = append(b.B, body...)
	reply, err := c.Post(ctx, to, &router.Attempt{}, b)
	if err != nil {
		return "", err
	}
	defer reply.Release()
	return string(reply.Data), nil
}

// answer reads a request and writes text.
func answer(t *testing.T, conn net.Conn, r *bufio.Reader, text string) bool {
	t.Helper()
	q, err := http.ReadRequest(r)
	if err != nil {
		return false
	}
	if _, err = io.Copy(io.Discard, q.Body); err == nil {
		_, err = io.WriteString(conn, text)
	}
	return assert.NoError(t, err)
}

// reply is a whole 200.
func reply(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// count returns how many connections are idle.
func count(k *kept) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.idle)
}

// idle waits until something has arrived on the only idle connection, and looks at
// it.
func idle(t *testing.T, k *kept) error {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Len(t, k.idle, 1)
	_, err := k.idle[0].Conn.Read(make([]byte, 1))
	return err
}

// TestClosedWhileIdle: a connection that the upstream closed while idle fails no
// request.
func TestClosedWhileIdle(t *testing.T) {
	once := func(text string) func(net.Conn, *bufio.Reader) {
		return func(conn net.Conn, r *bufio.Reader) { answer(t, conn, r, text) }
	}
	c, k := script(t, once(reply("one")), once(reply("two")))
	for _, want := range []string{"one", "two"} {
		got, err := ask(t.Context(), c, "{}")
		require.NoError(t, err)
		assert.Equal(t, want, got)
		require.ErrorIs(t, idle(t, k), io.EOF)
	}
}

// TestUnaskedBytes: bytes that arrive without a request, or after a reply, are no
// reply to the next request.
func TestUnaskedBytes(t *testing.T) {
	stray := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"
	read := make(chan struct{})
	for name, talk := range map[string]func(net.Conn, *bufio.Reader){
		"while idle": func(conn net.Conn, r *bufio.Reader) {
			answer(t, conn, r, reply("one"))
			<-read
			_, _ = io.WriteString(conn, "x"+stray)
			answer(t, conn, r, "")
		},
		"behind a reply": func(conn net.Conn, r *bufio.Reader) {
			answer(t, conn, r, reply("one")+stray)
			answer(t, conn, r, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, k := script(t, talk, func(conn net.Conn, r *bufio.Reader) { answer(t, conn, r, reply("two")) })
			got, err := ask(t.Context(), c, "{}")
			require.NoError(t, err)
			assert.Equal(t, "one", got)
			if name == "while idle" {
				close(read)
				require.NoError(t, idle(t, k))
			}
			got, err = ask(t.Context(), c, "{}")
			require.NoError(t, err)
			assert.Equal(t, "two", got)
		})
	}
}

// TestReplies: every form of a reply is read as net/http reads it, and the
// connection is reused exactly where that is safe.
func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string
		again bool
	}{
		"length":           {reply("body"), "body", true},
		"empty":            {reply(""), "", true},
		"chunks":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n", "body", true},
		"a trailer":        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\nX-Late: 1\r\n\r\n", "body", false},
		"until the end":    {"HTTP/1.1 200 OK\r\n\r\nbody", "body", false},
		"asked to close":   {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody", "body", false},
		"old":              {"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nbody", "body", false},
		"old, kept":        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 4\r\n\r\nbody", "body", false},
		"hints come first": {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + reply("body"), "body", false},
	} {
		t.Run(name, func(t *testing.T) {
			client, k := script(t, func(conn net.Conn, r *bufio.Reader) {
				if answer(t, conn, r, c.text) && c.again {
					answer(t, conn, r, reply("again"))
				}
			})
			got, err := ask(t.Context(), client, "{}")
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			if !c.again {
				assert.Zero(t, count(k))
				return
			}
			got, err = ask(t.Context(), client, "{}")
			require.NoError(t, err)
			assert.Equal(t, "again", got)
		})
	}
}

// TestBrokenReplies: a broken reply is an error, and its connection is not reused.
func TestBrokenReplies(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"no HTTP":         "220 mail.example.com ESMTP\r\n",
		"cut in its head": "HTTP/1.1 200 OK\r\nContent-Le",
		"cut in its body": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nbody",
		"cut in a chunk":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody",
		"other protocol":  "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
		"endless head":    "HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("x", headerBytes) + "\r\n\r\n",
		"endless hints":   strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", headerBytes/16) + reply("body"),
	} {
		t.Run(name, func(t *testing.T) {
			c, k := script(t, func(conn net.Conn, r *bufio.Reader) {
				if q, err := http.ReadRequest(r); err == nil {
					_, _ = io.Copy(io.Discard, q.Body)
					_, _ = io.WriteString(conn, text) // the client may have closed the connection
				}
			})
			_, err := ask(t.Context(), c, "{}")
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, router.ProviderUnavailable, failed.Class)
			assert.Zero(t, count(k))
		})
	}
}

// TestRefusedBeforeRead: an upstream may refuse a large body without reading it and
// without closing the connection.
func TestRefusedBeforeRead(t *testing.T) {
	over := make(chan struct{})
	c, _ := script(t, func(conn net.Conn, r *bufio.Reader) {
		_, err := http.ReadRequest(r)
		assert.NoError(t, err) //nolint:testifylint // not on the goroutine of the test
		_, err = io.WriteString(conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		assert.NoError(t, err)
		<-over
	})
	defer close(over)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := ask(ctx, c, strings.Repeat("x", 16<<20))
	failed, ok := errors.AsType[*router.UpstreamError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, router.PayloadTooLarge, failed.Class)
}

// postOn posts a body on a connection of k.
func postOn(ctx context.Context, k *kept, to Target, body string) (*http.Response, error) {
	c, err := k.take(ctx)
	if err != nil {
		return nil, err
	}
	message := (&pool{}).lend()
	message.B = append(message.B, to.head+"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body...)
	return c.post(ctx, message)
}

// TestNoBodyWaitsForTheReply: a sent body is released before the reply arrives, so
// that waiting calls hold no copy of it.
func TestNoBodyWaitsForTheReply(t *testing.T) {
	var c *Client
	held := int64(-1)
	c, _ = script(t, func(conn net.Conn, r *bufio.Reader) {
		_, _ = r.Peek(1)
		held = c.pool.flying.Load()
		answer(t, conn, r, reply("body"))
	})
	got, err := ask(t.Context(), c, "{}")
	require.NoError(t, err)
	assert.Equal(t, "body", got)
	assert.Zero(t, held)
}

// TestEndedContextCondemns: a connection is not reused once the context of its
// request has ended, even if the reply was read to its end. The goroutine that
// closes it for the context may do so later.
func TestEndedContextCondemns(t *testing.T) {
	for name, end := range map[string]bool{"ended": true, "not ended": false} {
		c, k := script(t, func(conn net.Conn, r *bufio.Reader) { answer(t, conn, r, reply("body")) })
		ctx, cancel := context.WithCancel(t.Context())
		to, err := c.Target("/x")
		require.NoError(t, err)
		resp, err := postOn(ctx, k, to, "{}")
		require.NoError(t, err)
		if end {
			cancel()
		}
		text, err := io.ReadAll(resp.Body) // the body is in the buffer already
		require.NoError(t, err)
		assert.Equal(t, "body", string(text))
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, end, count(k) == 0, name)
		cancel()
	}
}

// pipe returns an in-memory connection, which synctest can wait for.
func pipe(k *kept) (near *keptConn, far net.Conn) {
	a, b := net.Pipe()
	near = &keptConn{Conn: a, home: k, look: func() error { return nil }}
	near.in = bufio.NewReader(near)
	return near, b
}

// TestIdleTime: an idle connection is closed in time, one in use is not, and no
// timer is left behind.
func TestIdleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		used, _ := pipe(k)
		unused, far := pipe(k)
		k.put(unused)
		k.put(used)
		began := time.Now()
		go func() {
			for range 10 {
				<-time.After(idleTimeout / 4)
				c := k.pop()
				assert.Same(t, used, c)
				k.put(c)
			}
		}()
		_, err := far.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		assert.LessOrEqual(t, time.Since(began), idleTimeout)
		<-time.After(5 * idleTimeout)
		assert.Zero(t, count(k))
		synctest.Wait()
		k.mu.Lock()
		defer k.mu.Unlock()
		assert.False(t, k.sweeping)
	})
}

// TestIdleCount: not more connections are kept than allowed.
func TestIdleCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		for range idleConnsPerHost + 2 {
			c, far := pipe(k)
			defer far.Close() //nolint:errcheck // in memory
			k.put(c)
		}
		assert.Equal(t, idleConnsPerHost, count(k))
		<-time.After(2 * idleTimeout)
	})
}

// TestNoDeadline: without a caller's deadline, the wait for a head is bounded.
func TestNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		c, far := pipe(k)
		k.idle = append(k.idle, c)
		go func() { _, _ = io.Copy(io.Discard, far) }()
		began := time.Now()
		_, err := postOn(t.Context(), k, Target{}, "") //nolint:bodyclose // there is none
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.True(t, timedOut(err))
		assert.Equal(t, headerTimeout, time.Since(began))
	})
}

// TestManyAtOnce: whatever ends early, no call gets another one's reply.
func TestManyAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(body[len(body)/2:])
	}))
	defer server.Close()
	c, k := clientTo(t, server.URL)
	var group sync.WaitGroup
	for caller := range 16 {
		group.Go(func() {
			for i := range 100 {
				want := fmt.Sprintf("%d of %d", i, caller)
				ctx, cancel := context.WithCancel(t.Context())
				if i%3 == 0 {
					go cancel()
				}
				got, err := ask(ctx, c, want)
				cancel()
				if err == nil {
					assert.Equal(t, want, got)
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
			}
		})
	}
	group.Wait()
	assert.LessOrEqual(t, count(k), 16)
}

// TestRequestIDInHead: a text that could end a header line is never sent.
func TestRequestIDInHead(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer server.Close()
	c, err := New(Config{BaseURL: server.URL, KeyOptional: true, RequestIDHeader: "x-request-id"})
	require.NoError(t, err)
	to, err := c.Target("/x")
	require.NoError(t, err)
	for _, id := range []string{"a\r\nX-Evil: 1", "a\nb", "a\x00", "a\u00e9"} {
		_, err = c.Post(t.Context(), to, &router.Attempt{RequestID: id}, c.Buffer())
		failed, ok := errors.AsType[*router.UpstreamError](err)
		require.True(t, ok, "%v", err)
		assert.True(t, failed.Local, "not the upstream's fault")
	}
	assert.False(t, asked)
}

// TestHeadInTime: a caller's distant deadline does not extend the client's limit
// for a head.
func TestHeadInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &kept{}
		c, far := pipe(k)
		k.idle = append(k.idle, c)
		go func() { _, _ = io.Copy(io.Discard, far) }()
		ctx, cancel := context.WithTimeout(t.Context(), 10*headerTimeout)
		defer cancel()
		began := time.Now()
		_, err := postOn(ctx, k, Target{}, "") //nolint:bodyclose // there is none
		assert.True(t, timedOut(err), "%v", err)
		assert.Equal(t, headerTimeout, time.Since(began))
	})
}
