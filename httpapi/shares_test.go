package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
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
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// owners is an authenticator that accepts every key of the form ACCOUNT/KEY; the
// account may be empty.
type owners struct{}

func (owners) Authenticate(_ context.Context, secret router.Secret) (router.Principal, error) {
	account, key, ok := strings.Cut(string(secret), "/")
	if !ok {
		return router.Principal{}, keys.ErrRefused
	}
	return router.Principal{Account: account, KeyHash: key}, nil
}

// headOf returns the head of a request with such a key.
func headOf(key string, extra ...string) string {
	lines := append([]string{"POST /systemone HTTP/1.1", "Host: x", "X-Api-Key: " + key}, extra...)
	return strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// length returns the header that announces n bytes.
func length(n int) string { return "Content-Length: " + strconv.Itoa(n) }

// Thousands of callers that announce the largest body, and send nothing or its first
// byte, do not block other callers.
func TestWhatIsAnnouncedTakesNoRoom(t *testing.T) {
	const silent = 500
	for name, c := range map[string]struct {
		announced, sent string
		most            int64 // bytes held for each
	}{
		"silent":           {length(4 << 20), "", 1},
		"silent, chunked":  {"Transfer-Encoding: chunked", "", 1},
		"first byte":       {length(4 << 20), "{", 4 << 10},
		"first chunk":      {"Transfer-Encoding: chunked", "1\r\n{\r\n", 4 << 10},
		"waits for a 100":  {length(4<<20) + "\r\nExpect: 100-continue", "", 1},
		"a chunk's length": {"Transfer-Encoding: chunked", "400000\r\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, quiet, room(silent*c.most+8<<10), func(cfg *httpapi.Config, _ *router.Config) { cfg.Keys = owners{} })
				for range silent {
					conn := g.dial(t)
					go func() { _, _ = io.Copy(io.Discard, conn) }() // ends with the connection
					_, err := io.WriteString(conn, headOf("acme/one", c.announced)+c.sent)
					require.NoError(t, err)
				}
				synctest.Wait()
				assert.LessOrEqual(t, httpapi.InFlight(g.handler), silent*c.most)
				got := talk(t, g.dial(t), headOf("other/two", length(len(sound)))+sound)
				assert.Equal(t, 200, got.status)
				time.Sleep(10 * time.Second)
				synctest.Wait()
				assert.Zero(t, httpapi.InFlight(g.handler), "silent bodies end")
				assert.Zero(t, httpapi.Sharers(g.handler))
			})
		})
	}
}

// A body holds the bytes that have arrived and at most as much again.
func TestABodyHoldsWhatHasCome(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 12))
	for range 40 {
		come := 1 + random.IntN(1<<random.IntN(21))
		for _, announced := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d of %t", come, announced), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := newRig(t, quiet)
					sent := g.head(length(4<<20)) + strings.Repeat(" ", come)
					if !announced {
						sent = g.head("Transfer-Encoding: chunked") + "400000\r\n" + strings.Repeat(" ", come)
					}
					c := g.dial(t)
					_, err := io.WriteString(c, sent)
					require.NoError(t, err)
					synctest.Wait()
					assert.GreaterOrEqual(t, httpapi.InFlight(g.handler), int64(come))
					assert.LessOrEqual(t, httpapi.InFlight(g.handler), int64(max(2*come, 4<<10)))
					require.NoError(t, c.Close()) // hangs up in the middle
					synctest.Wait()
					assert.Zero(t, httpapi.InFlight(g.handler))
				})
			})
		}
	}
}

// One key gets a quarter of the room and one account half of it. Other keys and
// accounts are served beside them until all of the room is taken.
func TestEveryoneHasAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 16 << 10
		body := padded(size)
		g := newRig(t, quiet, func(c *httpapi.Config, _ *router.Config) {
			c.Keys, c.MaxBytes, c.MaxInFlightBytes = owners{}, size, 8*size
		})
		ask := func(key string, status int) {
			t.Helper()
			got := talk(t, g.dial(t), headOf(key, length(size))+body)
			assert.Equal(t, status, got.status, key)
			if status == 200 {
				return
			}
			assert.Equal(t, "1", got.header.Get("Retry-After"), key)
			assert.Equal(t, map[int]any{429: "rate_limit_exceeded", 503: "no_capacity"}[status], at(t, got.body, "error.metadata.error_type"), key)
			assert.Equal(t, map[int]any{429: "Rate limit exceeded", 503: "Service temporarily unavailable"}[status], at(t, got.body, "error.message"), key)
		}
		var finish []func()
		hold := func(key string, n int) {
			t.Helper()
			for range n {
				c := g.dial(t)
				_, err := io.WriteString(c, headOf(key, length(size))+body[:size-1])
				require.NoError(t, err)
				finish = append(finish, func() {
					assert.Equal(t, 200, talk(t, c, body[size-1:]).status, "%s has its room", key)
				})
			}
			synctest.Wait()
		}
		hold("acme/1", 2)
		ask("acme/1", 429)
		ask("acme/2", 200)
		ask("emca/3", 200)
		hold("acme/2", 2)
		ask("acme/1", 429)
		ask("acme/4", 429) // the account's share is taken
		ask("emca/3", 200)
		hold("emca/3", 2)
		hold("/7", 1) // belongs to no account, but takes room
		ask("emca/5", 200)
		hold("emca/5", 1)
		ask("emca/5", 503)
		ask("third/6", 503)
		ask("/7", 503)
		assert.EqualValues(t, 8*size, httpapi.InFlight(g.handler))
		for _, f := range finish {
			f()
		}
		synctest.Wait()
		assert.Zero(t, httpapi.InFlight(g.handler))
		assert.Zero(t, httpapi.Sharers(g.handler), "nothing is kept of who holds nothing")
		ask("acme/1", 200)
	})
}

// A connection stays usable after its body was refused and read to its end.
func TestARefusedBodyLeavesTheConnectionSound(t *testing.T) {
	for name, sent := range map[string]func(body string) string{
		"announced": func(body string) string { return headOf("acme/1", length(len(body))) + body },
		"chunked": func(body string) string {
			return headOf("acme/1", "Transfer-Encoding: chunked") + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(t, quiet, func(c *httpapi.Config, _ *router.Config) {
					c.Keys, c.MaxInFlightPerKey = owners{}, 16<<10
				})
				c := g.dial(t)
				for range 3 {
					assert.Equal(t, 429, talk(t, c, sent(padded(40<<10))).status)
					assert.Equal(t, 200, talk(t, c, sent(sound)).status)
				}
			})
		})
	}
}

// A caller that waits for 100 Continue gets the refusal instead if there is no room.
func TestNobodyIsInvitedWhereThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 16 << 10
		body := padded(size)
		g := newRig(t, quiet, room(size))
		c := g.dial(t)
		_, err := io.WriteString(c, g.head(length(size))+body[:size-1])
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, 503, talk(t, g.dial(t), g.head(length(100), "Expect: 100-continue")).status)
		assert.Equal(t, 200, talk(t, c, body[size-1:]).status)
		synctest.Wait()
		assert.Equal(t, 100, talk(t, g.dial(t), g.head(length(100), "Expect: 100-continue")).status)
	})
}

// manyOptions returns a body of short names, whose decoded form is several times
// larger.
func manyOptions(questions int) string {
	var options, all strings.Builder
	for i := range 255 {
		fmt.Fprintf(&options, `%q:null,`, strconv.FormatInt(int64(i), 36))
	}
	criteria := strings.TrimSuffix(options.String(), ",")
	for i := range questions {
		fmt.Fprintf(&all, `%q:{"type":"choice","instructions":"?","criteria":{%s}},`, strconv.Itoa(i), criteria)
	}
	return `{"model":"acme/judge","state":"s","questions":{` + strings.TrimSuffix(all.String(), ",") + `}}`
}

// The memory of decoded questions counts too.
func TestQuestionsTakeRoom(t *testing.T) {
	body := manyOptions(20) // 45 KB
	const parts = 20 * 255
	var during int64
	g := newRig(t, quiet)
	g.ant.took = func() { during = httpapi.InFlight(g.handler) }
	assert.Equal(t, 200, send(t, g, g.handler, []byte(body)))
	assert.Greater(t, during, int64(parts*100))
	assert.Zero(t, httpapi.InFlight(g.handler))

	g = newRig(t, quiet, room(during-1))
	r := g.request(t, http.MethodPost, "/systemone", body, "inference")
	assert.Equal(t, 503, g.serve(t, g.handler, r).Code)
	assert.Empty(t, g.ant.seen)
	assert.Zero(t, httpapi.InFlight(g.handler))
}

// The memory of decoded conditions counts too: 21 bytes of text become 128.
func TestConditionsTakeRoom(t *testing.T) {
	list := func(of string) string { return `{"any":[` + strings.Repeat(of+",", 19) + of + `]}` }
	atLeast := `{"atLeast":{"count":20,"conditions":[` + strings.Repeat(`{"confidenceBelow":0},`, 19) + `{"confidenceBelow":0}]}}`
	body := `{"model":"acme/judge","models":[{"model":"acme/judge","when":` + list(list(atLeast)) + `}],"state":"s",
		"questions":{"q":{"type":"choice","instructions":"?","criteria":{"a":null,"b":null}}}}`
	var during int64
	g := newRig(t, quiet)
	g.ant.took = func() { during = httpapi.InFlight(g.handler) }
	assert.Equal(t, 200, send(t, g, g.handler, []byte(body)))
	assert.Greater(t, during, int64(20*20*20*128))
	assert.Zero(t, httpapi.InFlight(g.handler))
}

// Only a few large bodies are parsed at the same time. Small bodies do not wait for
// them. A caller that hangs up stops waiting.
func TestLargeBodiesAreTakenApartInTurn(t *testing.T) {
	for path, large := range map[string]string{
		"/systemone": padded(1 << 20),
		"/keys":      `{"name":"n"}` + strings.Repeat(" ", 1<<20),
	} {
		synctest.Test(t, func(t *testing.T) {
			key := map[string]string{"/systemone": "inference", "/keys": "management"}[path]
			g := newRig(t, quiet)
			ask := func(ctx context.Context, body string) <-chan int {
				status := make(chan int, 1)
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
				r.Header.Set("X-Api-Key", string(g.keys[key]))
				go func() { status <- g.serve(t, g.handler, r).Code }()
				synctest.Wait()
				return status
			}
			done := httpapi.Parse(g.handler)
			waiting := ask(t.Context(), large)
			assert.Empty(t, waiting, path)
			assert.Contains(t, []int{200, 201}, <-ask(t.Context(), strings.TrimSpace(large)))
			ctx, hangUp := context.WithCancel(t.Context())
			gone := ask(ctx, large)
			assert.Empty(t, gone)
			hangUp()
			assert.Equal(t, 500, <-gone, "nobody reads it")
			done()
			assert.Contains(t, []int{200, 201}, <-waiting)
			assert.Zero(t, httpapi.InFlight(g.handler))
			httpapi.Parse(g.handler)()
		})
	}
}
