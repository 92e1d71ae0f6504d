package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/router"
)

// fleet is several servers on one database, all started at the same instant
// when it was empty.
type fleet struct {
	servers []*victim
	bases   []string
	admin   string
	up      *pricedUpstream
	o       options
}

func newFleet(t *testing.T, processes int, more ...string) *fleet {
	t.Helper()
	f := &fleet{up: newPricedUpstream(t, seeded(t), 1, 5*time.Millisecond), o: options{postgres: pgtest.DSN(t, pgtest.Config{Synced: true})}}
	config, folder := f.up.config(t, "0"), t.TempDir()
	keysFile := func(i int) string { return filepath.Join(folder, fmt.Sprintf("%d.json", i)) }
	env := []string{sealingEnv + "=" + testSealingKey, postgresEnv + "=" + f.o.postgres}
	for i := range processes {
		f.servers = append(f.servers, launch(t, env, append([]string{"-config", config, "-keys-file", keysFile(i)}, more...)...))
	}
	for i, v := range f.servers {
		f.bases = append(f.bases, v.listening(t, nil))
		if keys, ok := keysIn(t, keysFile(i)); ok {
			assert.Empty(t, f.admin, "the keys were handed out twice")
			f.admin = keys.ManagementKey
		}
	}
	require.NotEmpty(t, f.admin, "the keys were handed out")
	return f
}

// kill ends all servers: nothing is owed by who has answered.
func (f *fleet) kill(t *testing.T) {
	t.Helper()
	for _, v := range f.servers {
		v.kill(t)
	}
}

// key makes a key with a limit.
func (f *fleet) key(t *testing.T, limit router.USD) testKey {
	t.Helper()
	status, text, err := talk(t.Context(), http.DefaultClient, f.admin, http.MethodPost, f.bases[0]+"/keys",
		`{"name":"hot","limit":`+limit.String()+`}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, "%s", text)
	return testKey{pick(t, string(text), "key"), pick(t, string(text), "hash")}
}

// Hundreds of calls with one key, through several servers at once, get exactly
// what the key's limit pays for; nobody asks the upstream for the others.
func TestManyProcessesSpendOneLimitToTheCent(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{2, 4} {
		t.Run(fmt.Sprint(processes, " processes"), func(t *testing.T) {
			t.Parallel()
			newFleet(t, processes).spendToTheCent(t)
		})
	}
}

func (f *fleet) spendToTheCent(t *testing.T) {
	t.Helper()
	const price, affordable, callers = router.USD(10_000_000), 100, 32
	const limit = affordable * price
	key := f.key(t, limit)
	tally := newTally()
	began := time.Now()
	var group errgroup.Group
	for i := range callers {
		base, client := f.bases[i%len(f.bases)], newClient()
		group.Go(func() error {
			defer client.CloseIdleConnections()
			for range 4 * affordable / callers {
				if !tally.call(t.Context(), client, base, key) {
					return fmt.Errorf("a call through %s failed", base)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	t.Logf("%d calls in %v", tally.sent.Load(), time.Since(began).Round(time.Millisecond))
	assert.Empty(t, tally.wrong)
	assert.Len(t, tally.answered, affordable)
	assert.Len(t, tally.refused, int(tally.sent.Load())-affordable)
	seen := f.up.count()
	assert.Len(t, seen, affordable)
	tally.refusedNowhere(t, seen)
	for _, base := range f.bases {
		status, text, err := talk(t.Context(), http.DefaultClient, f.admin, http.MethodGet, base+"/keys/"+key.hash, "")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status, "%s", text)
		_, usage, err := keyFigures(text)
		require.NoError(t, err)
		assert.Equal(t, limit, usage)
	}

	f.kill(t)
	b := openBooks(t, f.o)
	defer b.close(t)
	assert.Zero(t, b.addUp(t), "nothing is held")
	assert.Equal(t, limit, b.ofKey(t, key.hash).Spent.Total)
	events := b.events(t)
	assert.Len(t, events, affordable)
	for id, a := range tally.answered {
		assert.Equal(t, entry{a.key, price}, events[id+"/0"])
	}
}
