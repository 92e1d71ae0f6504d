package main

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
)

// Environment variables: how often a server is killed over each kind of storage
// (default 5, or 20 if fullEnv is 1), and the seed of the moments (default random).
const (
	killsEnv = "SIGNALBOX_TEST_KILLS"
	seedEnv  = "SIGNALBOX_TEST_SEED"
	fullEnv  = "SIGNALBOX_TEST_FULL"
)

func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(otherwise, 10)), 10, 64)
	require.NoError(t, err, name)
	return n
}

// seeded returns a random source and logs its seed.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := number(t, seedEnv, rand.Uint64())
	t.Logf("%s=%d", seedEnv, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// lasting runs a test on each kind of storage that outlives a process, with the
// environment of processes that use it.
func lasting(t *testing.T, test func(t *testing.T, o options, env map[string]string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, options{data: filepath.Join(t.TempDir(), "data")}, nil)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		dsn := pgtest.DSN(t, pgtest.Config{Synced: true, OwnDatabase: true})
		test(t, options{postgres: dsn}, map[string]string{sealingEnv: testSealingKey, postgresEnv: dsn})
	})
}

// crash is a test that kills a server again and again over one storage.
type crash struct {
	o        options
	env      map[string]string
	keysFile string
	config   string
	rnd      *rand.Rand
	up       *pricedUpstream
	tally    *tally

	startTook time.Duration
	admin     string
	keys      []testKey
	limits    []limit // of the keys; the last key has none
	starts    int     // number of servers killed before they listened
	expired   int
}

const (
	perCycle = router.USD(250_000_000) // by which a limit is raised before each kill
	callers  = 8
)

func TestKilledServersLoseNothingAndOverspendNothing(t *testing.T) {
	t.Parallel()
	lasting(t, func(t *testing.T, o options, env map[string]string) {
		t.Helper()
		rnd := seeded(t)
		up := newPricedUpstream(t, rand.New(rand.NewPCG(rnd.Uint64(), 1)), 5, 15*time.Millisecond)
		c := &crash{
			o: o, env: env, rnd: rnd, up: up, keysFile: filepath.Join(t.TempDir(), "keys.json"), config: up.config(t, "1000"),
			tally: newTally(),
		}
		c.firstStart(t)
		kills := int(number(t, killsEnv, 5+15*number(t, fullEnv, 0)))
		began := time.Now()
		for n := range kills {
			c.cycle(t)
			if c.rnd.IntN(2) == 0 { // otherwise the next server starts on the storage as it was left
				c.visit(t, n%max(kills/5, 1) == 0)
			}
			if t.Failed() {
				t.Fatalf("after kill %d", n+1)
			}
		}
		took := time.Since(began)
		c.visit(t, true)
		c.reconcile(t)
		y := c.tally
		t.Logf("%d kills in %v, %d before the server listened; %d calls: %d answered, %d refused, %d of unknown fate; %d holds expired",
			kills, took.Round(time.Millisecond), c.starts, y.sent.Load(), len(y.answered), len(y.refused), y.unknown, c.expired)
		assert.NotEmpty(t, y.answered)
		assert.Positive(t, y.unknown, "no kill met a call")
	})
}

func (c *crash) getenv(name string) string { return c.env[name] }

// launch starts the server.
func (c *crash) launch(t *testing.T) *victim {
	t.Helper()
	var env []string
	for name, value := range c.env {
		env = append(env, name+"="+value)
	}
	args := []string{"-config", c.config, "-keys-file", c.keysFile}
	if c.o.data != "" {
		args = append(args, "-data", c.o.data)
	}
	return launch(t, env, args...)
}

// firstStart makes the keys that will be used, two of them with limits.
func (c *crash) firstStart(t *testing.T) {
	t.Helper()
	began := time.Now()
	v := c.launch(t)
	base := v.listening(t, nil)
	c.startTook = time.Since(began)
	f, ok := keysIn(t, c.keysFile)
	require.True(t, ok)
	c.admin = f.ManagementKey
	for _, limited := range []string{`,"limit":0.25`, `,"limit":0.25`, ``} {
		status, text, err := talk(t.Context(), newClient(), c.admin, http.MethodPost, base+"/keys", `{"name":"k"`+limited+`}`)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, status, "%s", text)
		c.keys = append(c.keys, testKey{pick(t, string(text), "key"), pick(t, string(text), "hash")})
		c.limits = append(c.limits, limit{perCycle, perCycle})
	}
	c.limits = c.limits[:2]
	v.stop(t)
}

// cycle starts a server, puts it under load and kills it. Mostly it kills when a number
// of calls have reached some point, sometimes at a random moment, perhaps before the
// server listens.
func (c *crash) cycle(t *testing.T) {
	t.Helper()
	var moment <-chan time.Time
	if c.rnd.IntN(4) == 0 {
		moment = time.After(time.Duration(c.rnd.Int64N(int64(2 * c.startTook))))
	}
	launched := time.Now()
	v := c.launch(t)
	base := v.listening(t, moment)
	if base == "" {
		c.starts++
		v.kill(t)
		return
	}
	c.startTook = time.Since(launched)
	wire := newTripwire(1 + c.rnd.IntN(100))
	upstream, answers := wire, (*tripwire)(nil)
	if c.rnd.IntN(2) == 0 {
		upstream, answers = nil, wire
	}
	c.up.wire.Store(upstream)
	c.tally.wire.Store(answers)
	var load errgroup.Group
	for range callers {
		rnd, client := rand.New(rand.NewPCG(c.rnd.Uint64(), 2)), newClient()
		load.Go(func() error {
			defer client.CloseIdleConnections()
			for there := true; there; {
				there = c.tally.call(t.Context(), client, base, c.keys[rnd.IntN(len(c.keys))])
			}
			return nil
		})
	}
	load.Go(func() error { return c.manage(t.Context(), base) })
	select {
	case <-wire.tripped:
		<-time.After(time.Duration(c.rnd.Int64N(int64(3 * time.Millisecond))))
	case <-moment:
	case <-time.After(patience):
		assert.Fail(t, "no call gets on")
	}
	v.kill(t)
	require.NoError(t, load.Wait())
}
