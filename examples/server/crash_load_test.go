package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/router"
)

// tripwire signals when something has happened a number of times.
type tripwire struct {
	left    atomic.Int64
	tripped chan struct{}
}

func newTripwire(n int) *tripwire {
	w := &tripwire{tripped: make(chan struct{})}
	w.left.Store(int64(n))
	return w
}

func (w *tripwire) step() {
	if w != nil && w.left.Add(-1) == 0 {
		close(w.tripped)
	}
}

// pricedUpstream is an upstream that records the state of each request. Its delays and
// token counts are random. A request costs 0.01 USD.
type pricedUpstream struct {
	url    string
	tokens int           // at most; at least 1
	delay  time.Duration // at most
	wire   atomic.Pointer[tripwire]

	mu   sync.Mutex
	rnd  *rand.Rand
	seen map[string]int
}

func newPricedUpstream(t *testing.T, rnd *rand.Rand, tokens int, delay time.Duration) *pricedUpstream {
	t.Helper()
	u := &pricedUpstream{tokens: tokens, delay: delay, rnd: rnd, seen: map[string]int{}}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

// config writes the configuration of a server with one model, at the upstream. tokens
// is the price of a million tokens.
func (u *pricedUpstream) config(t *testing.T, tokens string) string {
	t.Helper()
	return write(t, fmt.Sprintf(`{
		"providers": [{"slug": "up", "kind": "systemone", "base_url": "%s/v1"}],
		"models": [{"id": "acme/judge", "permaslug": "acme/judge-20260901"}],
		"endpoints": [{"provider": "up", "model": "acme/judge", "pricing": {"prompt": "%s", "request": "0.01"}}]}`, u.url, tokens))
}

// ServeHTTP implements [http.Handler].
func (u *pricedUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	u.seen[asked.State]++
	tokens, delay := 1+u.rnd.IntN(u.tokens), time.Duration(u.rnd.Int64N(int64(u.delay)+1))
	u.mu.Unlock()
	u.wire.Load().step()
	select {
	case <-time.After(delay):
	case <-r.Context().Done(): // the caller is gone
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"model":"j","answers":{"q":{"type":"noul","noul":0.75}},"usage":{"input_tokens":%d,"output_tokens":1}}`, tokens)
}

// count returns the number of requests about each state.
func (u *pricedUpstream) count() map[string]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.seen)
}

// answer is what a caller learned of a call.
type answer struct {
	state, key string // the key's hash
	cost       router.USD
}

// tally collects what all callers have seen.
type tally struct {
	wire  atomic.Pointer[tripwire]
	sent  atomic.Int64
	fails bool // calls may be answered with an error, because the database fails at times

	mu       sync.Mutex
	answered map[string]answer // by the id of the answer
	refused  []string          // states
	unknown  int               // calls without a reply
	wrong    map[string]int    // unexpected replies, with their number
}

func newTally() *tally { return &tally{answered: map[string]answer{}, wrong: map[string]int{}} }

// call sends a request about a new state. It reports whether the server is still
// there.
func (y *tally) call(ctx context.Context, client *http.Client, base string, key testKey) bool {
	state := fmt.Sprintf("call %d", y.sent.Add(1))
	status, text, err := talk(ctx, client, key.secret, http.MethodPost, base+"/systemone",
		`{"model":"acme/judge","state":"`+state+`","questions":{"q":{"type":"noul","instructions":"?"}}}`)
	var reply struct {
		ID    string `json:"id"`
		Usage struct {
			Cost json.Number `json:"cost"`
		} `json:"usage"`
	}
	var cost router.USD
	if err == nil && status == http.StatusOK {
		if err := json.Unmarshal(text, &reply); err != nil {
			y.fault("%s: %v", text, err)
		}
		if cost, err = router.ParseUSD(reply.Usage.Cost.String()); err != nil {
			y.fault("%s: %v", text, err)
		}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case err != nil:
		y.unknown++
		return false
	case status == http.StatusOK:
		if before, twice := y.answered[reply.ID]; twice {
			y.wrong[fmt.Sprintf("%s is the id of two answers: %q and %q", reply.ID, before.state, state)]++
		}
		y.answered[reply.ID] = answer{state, key.hash, cost}
		y.wire.Load().step()
	case status == http.StatusPaymentRequired:
		y.refused = append(y.refused, state)
	case y.fails && status >= http.StatusInternalServerError:
		y.unknown++
	default:
		y.wrong[fmt.Sprintf("status %d: %s", status, text)]++
	}
	return true
}

func (y *tally) fault(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.wrong[fmt.Sprintf(format, args...)]++
}

// refusedNowhere requires that no refused call was sent upstream.
func (y *tally) refusedNowhere(t *testing.T, seen map[string]int) {
	t.Helper()
	for _, state := range y.refused {
		if seen[state] != 0 {
			t.Errorf("%s was refused and sent upstream", state)
		}
	}
}

// testKey is a key made for a test.
type testKey struct{ secret, hash string }

// newClient returns a client with connections of its own.
func newClient() *http.Client { return &http.Client{Transport: &http.Transport{}, Timeout: patience} }

// talk sends a request and returns the whole reply.
func talk(ctx context.Context, client *http.Client, key, method, url, body string) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	text, err = io.ReadAll(resp.Body)
	return resp.StatusCode, bytes.TrimSpace(text), errors.Join(err, resp.Body.Close())
}
