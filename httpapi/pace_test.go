package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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

// drip sends text in pieces of n bytes, each in the middle of a second, until the other
// side stops reading.
func drip(w io.Writer, text string, n int) {
	wait := time.Second / 2
	for len(text) > 0 {
		time.Sleep(wait)
		piece := text[:min(n, len(text))]
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
		text, wait = text[len(piece):], time.Second
	}
}

// unhurried serves g without any timeout of the server and returns a connection to it.
// hidden hides the connection from the handler's ResponseWriter.
func (g *rig) unhurried(t *testing.T, hidden bool, protocols *http.Protocols) net.Conn {
	t.Helper()
	h := http.Handler(g.handler)
	if hidden {
		h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			g.handler.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
		})
	}
	l := &listener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
	server := &http.Server{Handler: h, Protocols: protocols} // the handler must do without timeouts
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	client, far := net.Pipe()
	l.conns <- far
	t.Cleanup(func() {
		_ = client.Close()
		assert.NoError(t, server.Shutdown(context.WithoutCancel(t.Context())))
		assert.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return client
}

const slowIssue = "the body came too slowly: it must bring 1024 bytes a second"

// A body that arrives too slowly is ended, however it began, even by a server without
// timeouts. A slow but steady body is served.
func TestSlowBodiesEnd(t *testing.T) {
	const size = 64 << 10
	body := padded(size)
	for name, c := range map[string]struct {
		atOnce  int // bytes that come at once
		n       int // bytes each second afterwards; 0: none
		chunked bool
		hidden  bool
		status  int
		after   time.Duration
	}{
		"silent":                       {0, 0, false, false, 400, 10 * time.Second},
		"silent, chunked":              {0, 0, true, false, 400, 10 * time.Second},
		"stops in the middle":          {size / 2, 0, false, false, 400, 20 * time.Second},
		"stops in the middle, chunked": {size / 2, 0, true, false, 400, 20 * time.Second},
		"all but a byte":               {size - 1, 0, false, false, 400, 20 * time.Second},
		"a byte a second":              {0, 1, false, false, 400, 10 * time.Second},
		"a byte a second, hidden":      {0, 1, false, true, 400, 10 * time.Second},
		"fast, then a byte a second":   {size / 2, 1, false, false, 400, 20 * time.Second},
		"fast, then slow, hidden":      {size / 2, 1, false, true, 400, 20 * time.Second},
		"fast, then slow, in chunks":   {size / 2, 1, true, false, 400, 20 * time.Second},
		"just too slow":                {0, 1000, false, false, 400, 10 * time.Second},
		"just too slow, chunked":       {0, 1000, true, false, 400, 10 * time.Second},
		"just fast enough":             {0, 1100, false, false, 200, 59 * time.Second},
		"just fast enough, chunked":    {0, 1300, true, false, 200, 50 * time.Second},
		"just fast enough, hidden":     {0, 1100, false, true, 200, 59 * time.Second},
		"fast":                         {20 << 10, 9 << 10, false, false, 200, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, quiet)
				conn := g.unhurried(t, c.hidden, nil)
				head, rest, tail := g.head(length(size)), body[c.atOnce:], ""
				if c.chunked {
					head, tail = g.head("Transfer-Encoding: chunked")+strconv.FormatInt(size, 16)+"\r\n", "\r\n0\r\n\r\n"
				}
				started, ended := time.Now(), make(chan struct{})
				go func() {
					defer close(ended)
					if _, err := io.WriteString(conn, head+body[:c.atOnce]); err == nil && c.n > 0 {
						drip(conn, rest, c.n)
						_, _ = io.WriteString(conn, tail)
					}
				}()
				got := talk(t, conn, "")
				assert.Equal(t, c.status, got.status)
				assert.Equal(t, c.after, time.Since(started).Truncate(time.Second))
				if c.status == 400 {
					assert.Equal(t, "Invalid request parameters", at(t, got.body, "error.message"))
					assert.Equal(t, slowIssue, at(t, got.body, "error.metadata.issues.0.message"))
				}
				require.NoError(t, conn.Close())
				<-ended
				synctest.Wait()
				assert.Zero(t, httpapi.InFlight(g.handler))
			})
		})
	}
}

// Ending a stream of HTTP/2 does not disturb other streams of the connection.
func TestSlowBodiesEndOverHTTP2(t *testing.T) {
	for name, hidden := range map[string]bool{"plain": false, "hidden": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, quiet)
				var protocols http.Protocols
				protocols.SetUnencryptedHTTP2(true)
				conn := g.unhurried(t, hidden, &protocols)
				transport := &http.Transport{
					Protocols: &protocols, DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
				}
				defer transport.CloseIdleConnections()
				post := func(body io.Reader, size int64) (int, []byte) {
					r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://x/systemone", body)
					require.NoError(t, err)
					r.ContentLength = size
					r.Header.Set("X-Api-Key", string(g.keys["inference"]))
					resp, err := transport.RoundTrip(r)
					require.NoError(t, err)
					text, err := io.ReadAll(resp.Body)
					require.NoError(t, err)
					require.NoError(t, resp.Body.Close())
					return resp.StatusCode, text
				}
				body, w := io.Pipe()
				defer w.Close() //nolint:errcheck // never fails
				started := time.Now()
				status, text := post(body, 4<<20)
				assert.Equal(t, 400, status)
				assert.Equal(t, slowIssue, at(t, text, "error.metadata.issues.0.message"))
				assert.Equal(t, 10*time.Second, time.Since(started))
				status, _ = post(strings.NewReader(sound), int64(len(sound)))
				assert.Equal(t, 200, status)
				assert.Zero(t, httpapi.InFlight(g.handler))
			})
		})
	}
}

// A slow body without a connection is ended by Close. A body that is complete by then
// is accepted.
func TestSlowBodiesWithoutAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, quiet)
		body, w := io.Pipe()
		defer w.Close() //nolint:errcheck // never fails
		r := g.request(t, http.MethodPost, "/systemone", "", "inference")
		r.Body, r.ContentLength = body, 4<<20
		assert.Equal(t, 400, g.serve(t, g.handler, r).Code)

		r = g.request(t, http.MethodPost, "/systemone", "", "inference")
		r.Body, r.ContentLength = io.NopCloser(&slowBody{strings.NewReader(sound), time.Minute}), -1
		assert.Equal(t, 200, g.serve(t, g.handler, r).Code)

		// A body whose connection was cut meanwhile is refused even if it is complete.
		r = g.request(t, http.MethodPost, "/systemone", "", "inference")
		r.Body, r.ContentLength = io.NopCloser(&slowBody{strings.NewReader(sound), time.Minute}), -1
		reply := httptest.NewRecorder()
		g.handler.ServeHTTP(deadlines{reply}, r)
		assert.Equal(t, 400, reply.Code)
	})
}

// deadlines is a connection that can be cut.
type deadlines struct{ *httptest.ResponseRecorder }

func (deadlines) SetReadDeadline(time.Time) error { return nil }

func TestMinBodyRateIsConfigurable(t *testing.T) {
	for rate, status := range map[int64]int{1: 200, 1 << 10: 400, 1 << 62: 400} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(t, quiet, func(c *httpapi.Config, _ *router.Config) { c.MinBodyRate = rate })
			conn := g.unhurried(t, false, nil)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				drip(conn, g.head(length(len(sound)))+sound, 20)
			}()
			assert.Equal(t, status, talk(t, conn, "").status, rate)
			require.NoError(t, conn.Close())
			<-ended
		})
	}
}
