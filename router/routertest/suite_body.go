package routertest

import (
	"bytes"
	"compress/gzip"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// testBrokenBodies: a 200 without a valid answer is a bad reply.
func testBrokenBodies(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	a := b.attempt(mixed())
	whole := w.Encode(a, defaultReply(a))
	for name, body := range map[string]string{
		"empty":         "",
		"white space":   " \n",
		"HTML":          "<html><body>" + secretReply + "</body></html>",
		"text":          secretReply,
		"null":          "null",
		"a number":      "1",
		"a string":      `"` + secretReply + `"`,
		"an array":      `[{"` + secretReply + `":1}]`,
		"no member":     `{}`,
		"other members": `{"` + secretReply + `":"` + secretReply + `"}`,
		"odd answers":   `{"answers":{"` + secretReply + `":{"type":"` + secretReply + `"}}}`,
		"an error":      `{"error":{"code":500,"message":"` + secretReply + `"}}`,
		"trailing data": string(whole) + `{"` + secretReply + `":1}`,
		"very deep":     strings.Repeat("[", 100_000),
		"not UTF-8":     strings.Replace(string(whole), `"`, "\"\xff", 1),
		"NaN":           `{"answers":NaN}`,
	} {
		t.Run(name, func(t *testing.T) {
			b.body(http.StatusOK, nil, []byte(body))
			checked := b.bad(t, a)
			assert.False(t, checked && name != "odd answers", "what cannot be read cannot be checked")
		})
	}
	t.Run("HTML that calls itself HTML", func(t *testing.T) {
		b.body(http.StatusOK, http.Header{"Content-Type": {"text/html"}}, []byte("<html>"+secretReply))
		b.bad(t, a)
	})
	t.Run("cut anywhere", func(t *testing.T) {
		for at := range whole {
			b.body(http.StatusOK, nil, whole[:at])
			assert.False(t, b.bad(t, a), "what cannot be read cannot be checked")
		}
	})
	t.Run("shorter than announced", func(t *testing.T) {
		b.body(http.StatusOK, http.Header{"Content-Length": {strconv.Itoa(len(whole) + 10)}}, whole)
		b.bad(t, a)
	})
	t.Run("too large", func(t *testing.T) {
		b.answer(flood(w.TooLarge))
		b.bad(t, a)
	})
	t.Run("announced too large", func(t *testing.T) {
		b.body(http.StatusOK, http.Header{"Content-Length": {strconv.Itoa(w.TooLarge)}}, whole)
		b.bad(t, a)
	})
	t.Run("a bomb", func(t *testing.T) {
		b.body(http.StatusOK, http.Header{"Content-Encoding": {"gzip"}}, bomb(t, w.TooLarge))
		b.bad(t, a)
	})
}

// bad asks and requires a bad reply. It returns whether its answers count as
// checked.
func (b *bench) bad(t *testing.T, a router.Attempt) (checked bool) {
	t.Helper()
	_, err := b.provider.Decide(t.Context(), a)
	failed := failure(t, err)
	unavailable(t, failed)
	assert.True(t, failed.BadReply, "the upstream answered, but badly")
	b.askedOnce(t)
	return failed.Checked
}

// flood writes a body of size bytes without a Content-Length.
func flood(size int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		block := bytes.Repeat([]byte(" "), 64<<10)
		for sent := 0; sent < size; sent += len(block) {
			if _, err := rw.Write(block); err != nil {
				return // the provider has closed the connection, as it must
			}
		}
	}
}

// bomb returns a small compressed body that expands to size bytes.
func bomb(t *testing.T, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(bytes.Repeat([]byte(" "), size))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// testConnections: failures below HTTP are unavailability without a status.
func testConnections(t *testing.T, w Wire) {
	t.Helper()
	t.Run("refused", func(t *testing.T) {
		b := newBench(t, w)
		b.server.Close()
		b.lost(t)
	})
	t.Run("reset before the reply", func(t *testing.T) {
		b := newBench(t, w)
		b.answer(hijack(""))
		b.lost(t)
	})
	t.Run("no HTTP", func(t *testing.T) {
		b := newBench(t, w)
		b.answer(hijack("220 " + secretReply + " ESMTP\r\n"))
		b.lost(t)
	})
	t.Run("broken headers", func(t *testing.T) {
		b := newBench(t, w)
		b.answer(hijack("HTTP/1.1 200 OK\r\n" + secretReply + "\r\n\r\n"))
		b.lost(t)
	})
	t.Run("endless headers", func(t *testing.T) {
		b := newBench(t, w)
		b.answer(hijack("HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat(secretReply, 1<<17) + "\r\n\r\n{}"))
		_, err := b.provider.Decide(t.Context(), b.attempt(mixed()))
		const refused = "headers beyond 1 MiB must be refused"
		require.Error(t, err, refused)
		failed := failure(t, err)
		unavailable(t, failed)
		assert.Zero(t, failed.Status, refused)
		assert.LessOrEqual(t, len(b.seen()), 1, once)
	})
	t.Run("reset within the reply", func(t *testing.T) {
		b := newBench(t, w)
		b.answer(hijack("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{\"" + secretReply))
		_, err := b.provider.Decide(t.Context(), b.attempt(mixed()))
		failed := failure(t, err)
		unavailable(t, failed)
		assert.True(t, failed.BadReply, "the upstream began to answer")
	})
	t.Run("TLS that nobody vouches for", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = quiet()
		server.StartTLS()
		defer server.Close()
		_, err := w.New(t, server.URL, secretKey).Decide(t.Context(), (&bench{wire: w}).attempt(mixed()))
		failed := failure(t, err)
		unavailable(t, failed)
		assert.Zero(t, failed.Status)
	})
}

// lost asks and requires unavailability without a reply.
func (b *bench) lost(t *testing.T) {
	t.Helper()
	_, err := b.provider.Decide(t.Context(), b.attempt(mixed()))
	failed := failure(t, err)
	unavailable(t, failed)
	assert.Zero(t, failed.Status, "there was no HTTP reply")
	assert.LessOrEqual(t, len(b.seen()), 1, once)
}

// hijack writes raw bytes and closes the connection at once.
func hijack(raw string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			return
		}
		_, _ = conn.Write([]byte(raw))
		if tcp, ok := conn.(*net.TCPConn); ok && raw == "" {
			_ = tcp.SetLinger(0) // reset the connection instead of closing it in order
		}
		_ = conn.Close()
	}
}
