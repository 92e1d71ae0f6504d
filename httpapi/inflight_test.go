package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// room bounds the bytes that the bodies of a rig hold together. One key may hold all of
// them.
func room(n int64) option {
	return func(c *httpapi.Config, _ *router.Config) {
		c.MaxInFlightBytes, c.MaxInFlightPerKey, c.MaxInFlightPerAccount = n, n, n
	}
}

// padded is a sound body of n bytes.
func padded(n int) string { return sound + strings.Repeat(" ", n-len(sound)) }

// Callers who hold back the end of their bodies take only the room that there is. A
// later caller is refused, and reads the refusal even though it sends its whole body
// first.
func TestBodiesInFlightAreBounded(t *testing.T) {
	for name, announce := range map[string]bool{"announced": true, "chunked": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const size = 4 << 20
				body := padded(size)
				g := newRig(t, room(2*size), quiet)
				for range 2 {
					c := g.dial(t)
					_, err := io.WriteString(c, g.head("Content-Length: "+strconv.Itoa(size))+body[:size-1])
					require.NoError(t, err)
					defer func() {
						assert.Equal(t, 200, talk(t, c, body[size-1:]).status, "those who have room are served")
						synctest.Wait()
					}()
				}
				synctest.Wait()
				assert.EqualValues(t, 2*size, httpapi.InFlight(g.handler))

				sent := g.head("Content-Length: "+strconv.Itoa(size)) + body
				if !announce {
					sent = g.head("Transfer-Encoding: chunked") + strconv.FormatInt(size, 16) + "\r\n" + body + "\r\n0\r\n\r\n"
				}
				for range 3 {
					got := talk(t, g.dial(t), sent)
					assert.Equal(t, 503, got.status)
					assert.Equal(t, "Service temporarily unavailable", at(t, got.body, "error.message"))
					assert.Equal(t, "no_capacity", at(t, got.body, "error.metadata.error_type"))
				}
				synctest.Wait()
				assert.EqualValues(t, 2*size, httpapi.InFlight(g.handler), "a refused body holds nothing")
			})
		})
	}
}

// A client that has received 100 Continue and is then refused reads the refusal.
func TestRefusedAfterA100(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, room(128<<10), quiet)
		c := g.dial(t)
		assert.Equal(t, 100, talk(t, c, g.head("Expect: 100-continue", "Content-Length: "+strconv.Itoa(4<<20))).status)
		_, err := io.WriteString(c, padded(4 << 20)[1:])
		require.NoError(t, err)
		synctest.Wait()
		assert.Zero(t, httpapi.InFlight(g.handler), "what is dropped takes no room")
		assert.Equal(t, 503, talk(t, c, " ").status)
	})
}

// hungUp is a connection that fails while the reply is written.
type hungUp struct{ *httptest.ResponseRecorder }

func (hungUp) Write([]byte) (int, error) { panic(http.ErrAbortHandler) }

func TestWhatABodyHeldIsGivenBack(t *testing.T) {
	long := padded(300 << 10)
	for name, c := range map[string]struct {
		body   string
		then   error
		size   int64
		panics bool
		hungUp bool
		status int
	}{
		"served":                  {long, nil, int64(len(long)), false, false, 200},
		"served, chunked":         {long, nil, -1, false, false, 200},
		"short":                   {sound, nil, int64(len(sound)), false, false, 200},
		"empty":                   {"", nil, 0, false, false, 400},
		"no JSON":                 {long + "]", nil, -1, false, false, 400},
		"cut":                     {long, io.ErrUnexpectedEOF, int64(len(long)) + 1, false, false, 400},
		"too large":               {padded(600 << 10), nil, -1, false, false, 413},
		"announced too large":     {padded(600 << 10), nil, 600 << 10, false, false, 413},
		"beyond the room":         {padded(450 << 10), nil, 450 << 10, false, false, 503},
		"beyond the room, chunks": {padded(450 << 10), nil, -1, false, false, 503},
		"panic":                   {long, nil, -1, true, false, 500},
		"panic in the reply":      {long, nil, -1, false, true, 200},
	} {
		bounds := func(cfg *httpapi.Config, _ *router.Config) {
			cfg.MaxBytes, cfg.MaxInFlightBytes = 500<<10, 501<<10
			if c.status == 503 {
				cfg.MaxInFlightBytes = 400 << 10
			}
		}
		g := newRig(t, quiet, bounds)
		var during int64
		g.ant.panics = c.panics
		g.ant.took = func() { during = httpapi.InFlight(g.handler) }
		for _, h := range []http.Handler{g.handler, g.native} {
			r := g.request(t, http.MethodPost, "/systemone", "", "inference")
			r.Body, r.ContentLength = io.NopCloser(dripping{strings.NewReader(c.body), c.then}), c.size
			w := httptest.NewRecorder()
			if c.hungUp {
				h.ServeHTTP(hungUp{w}, r)
			} else {
				h.ServeHTTP(w, r)
			}
			assert.Equal(t, c.status, w.Code, name)
			assert.Zero(t, httpapi.InFlight(g.handler), name)
			if c.status == 200 {
				assert.GreaterOrEqual(t, during, int64(len(c.body)), name)
			}
		}
	}
}

func TestBodiesInFlightConcurrently(t *testing.T) {
	g := newRig(t, room(500<<10), quiet)
	var wg sync.WaitGroup
	var served atomic.Int64
	for i := range 8 {
		body := padded(100<<10 + i*10<<10)
		wg.Go(func() {
			for range 20 {
				switch status := send(t, g, g.handler, []byte(body)); status {
				case 200:
					served.Add(1)
				case 503:
				default:
					t.Errorf("status %d", status)
				}
			}
		})
	}
	wg.Wait()
	assert.NotZero(t, served.Load())
	assert.Zero(t, httpapi.InFlight(g.handler))
}
