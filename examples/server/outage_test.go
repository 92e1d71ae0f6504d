package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/pgtest"
)

// gate stands in front of an upstream, and holds all requests while it is shut.
type gate struct {
	upstream http.Handler
	atLeast  int // how many wait before shut returns

	mu      sync.Mutex
	open    chan struct{} // closed when the gate opens
	crowd   chan struct{} // closed when enough wait
	waiting []string      // states
}

func newGate(atLeast int) *gate {
	g := &gate{atLeast: atLeast, open: make(chan struct{})}
	close(g.open)
	return g
}

// ServeHTTP implements [http.Handler].
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var asked struct {
		State string `json:"state"`
	}
	if err != nil || json.Unmarshal(text, &asked) != nil {
		http.Error(w, "no request", http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	select {
	case <-g.wait(asked.State):
		g.upstream.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

func (g *gate) wait(state string) <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting != nil {
		if g.waiting = append(g.waiting, state); len(g.waiting) == g.atLeast {
			close(g.crowd)
		}
	}
	return g.open
}

// shut shuts the gate and says when enough wait.
func (g *gate) shut() (crowd <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open, g.crowd, g.waiting = make(chan struct{}), make(chan struct{}), []string{}
	return g.crowd
}

// let opens the gate and returns the states of the requests that waited.
func (g *gate) let() (waiting []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	waiting, g.waiting = g.waiting, nil
	close(g.open)
	return waiting
}

// shortOutage is less than the time for which the router retries a settlement. On a
// busy machine an outage may take longer; the test then does not require answers.
const shortOutage = 8 * time.Second

// A database dies under a server, again and again, and comes back a moment later. An
// answered call is charged once, at the cost in its answer; every other call gets an
// error. No limit is exceeded, and what is still held ends at its deadline. Calls that
// were at the upstream when the database died are answered once it is back.
func TestADatabaseThatDiesAndComesBack(t *testing.T) {
	t.Parallel()
	pg := pgtest.NewMortal(t, pgtest.Config{Synced: true})
	rnd := seeded(t)
	up := newPricedUpstream(t, rand.New(rand.NewPCG(rnd.Uint64(), 1)), 5, 5*time.Millisecond)
	atGate := newGate(callers / 2)
	atGate.upstream = up
	front := httptest.NewServer(atGate)
	t.Cleanup(front.Close)
	up.url = front.URL
	c := &crash{
		o: options{postgres: pg.DSN()}, env: map[string]string{sealingEnv: testSealingKey, postgresEnv: pg.DSN()},
		rnd: rnd, up: up, keysFile: filepath.Join(t.TempDir(), "keys.json"), config: up.config(t, "1000"), tally: newTally(),
	}
	c.tally.fails = true
	c.firstStart(t)
	v := c.launch(t)
	base := v.listening(t, nil)
	outages, met := 2+2*int(number(t, fullEnv, 0)), 0
	for range outages {
		met += c.outage(t, pg, atGate, base)
	}
	assert.Positive(t, met, "every outage was long")
	v.stop(t)
	c.visit(t, true)
	c.reconcile(t)
	y := c.tally
	t.Logf("%d calls: %d answered, of which %d had met an outage, %d refused, %d failed; %d holds expired",
		y.sent.Load(), len(y.answered), met, len(y.refused), y.unknown, c.expired)
	assert.Positive(t, y.unknown, "no outage met a call")
}

// getsOn waits until so is closed.
func getsOn(t *testing.T, so <-chan struct{}) {
	t.Helper()
	select {
	case <-so:
	case <-time.After(patience):
		assert.Fail(t, "no call gets on")
	}
}

// until makes calls until enough is closed. It pauses between calls, so that they do
// not slow the restart of the database.
func (y *tally) until(ctx context.Context, enough <-chan struct{}, base string, draw func() testKey) error {
	client := newClient()
	defer client.CloseIdleConnections()
	for y.call(ctx, client, base, draw()) {
		select {
		case <-enough:
			return nil
		case <-time.After(2 * time.Millisecond):
		}
	}
	return errors.New("the server is gone")
}

// outage puts the server under load, kills and restarts the database, and returns how
// many calls were in flight during that and were answered.
func (c *crash) outage(t *testing.T, pg *pgtest.Mortal, atGate *gate, base string) (met int) {
	t.Helper()
	wire, over := newTripwire(1+c.rnd.IntN(50)), make(chan struct{})
	c.tally.wire.Store(wire)
	var load errgroup.Group
	for range callers {
		rnd := rand.New(rand.NewPCG(c.rnd.Uint64(), 2))
		load.Go(func() error {
			return c.tally.until(t.Context(), over, base, func() testKey { return c.keys[rnd.IntN(len(c.keys))] })
		})
	}
	getsOn(t, wire.tripped)
	getsOn(t, atGate.shut())
	die := []func(testing.TB){pg.Crash, pg.Kill}[c.rnd.IntN(2)]
	begun := time.Now()
	die(t)
	waited := atGate.let() // their settlements find no database
	<-time.After(time.Duration(c.rnd.Int64N(int64(300 * time.Millisecond))))
	pg.Start(t)
	took := time.Since(begun)
	close(over)
	require.NoError(t, load.Wait())
	if took > shortOutage {
		t.Logf("an outage of %v says nothing", took)
		return 0
	}
	answered := map[string]bool{}
	for _, a := range c.tally.answered {
		answered[a.state] = true
	}
	for _, state := range waited {
		assert.True(t, answered[state], "%s was with the upstream, and the database away for %v", state, took)
	}
	return len(waited)
}
