package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
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
	f := &fleet{up: newPricedUpstream(t, seeded(t), 1, 5*time.Millisecond), o: options{postgres: pgtest.DSN(t, pgtest.Config{Synced: true, OwnDatabase: true})}}
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

// kill kills all servers.
func (f *fleet) kill(t *testing.T) {
	t.Helper()
	for _, v := range f.servers {
		v.kill(t)
	}
}

// key creates a key with a limit.
func (f *fleet) key(t *testing.T, limit router.USD) testKey {
	t.Helper()
	status, text, err := talk(t.Context(), http.DefaultClient, f.admin, http.MethodPost, f.bases[0]+"/keys",
		`{"name":"hot","limit":`+limit.String()+`}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, "%s", text)
	return testKey{pick(t, string(text), "key"), pick(t, string(text), "hash")}
}

// price is what each call costs, and affordable how many of them a key's limit
// pays for.
const (
	price      = router.USD(10_000_000)
	affordable = 100
	hotLimit   = affordable * price
)

// Of hundreds of calls with one key, through several servers at once, exactly those
// that the key's limit pays for are answered. The others never reach the upstream.
// With leases a server may refuse calls while another one holds the money, until that
// one stops.
func TestManyProcessesSpendOneLimitToTheCent(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{2, 4} {
		t.Run(fmt.Sprint(processes, " processes"), func(t *testing.T) {
			t.Parallel()
			newFleet(t, processes).spendToTheCent(t, false)
		})
		t.Run(fmt.Sprint(processes, " processes with leases"), func(t *testing.T) {
			t.Parallel()
			newFleet(t, processes, "-leases").spendToTheCent(t, true)
		})
	}
}

func (f *fleet) spendToTheCent(t *testing.T, leases bool) {
	t.Helper()
	const callers = 32
	key := f.key(t, hotLimit)
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
	if leases {
		t.Logf("%d answered before others had given back", len(tally.answered))
		assert.LessOrEqual(t, len(tally.answered), affordable)
		last := len(f.servers) - 1
		f.leaveTo(t, last)
		tally.untilRefused(t, f.bases[last], key)
		f.servers, f.bases = f.servers[last:], f.bases[last:]
	}
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
		assert.Equal(t, hotLimit, usage)
	}

	f.kill(t)
	b := openBooks(t, f.o)
	defer b.close(t)
	assert.Zero(t, b.addUp(t), "nothing is held")
	assert.Equal(t, hotLimit, b.ofKey(t, key.hash).Spent.Total)
	events := b.events(t)
	assert.Len(t, events, affordable)
	for id, a := range tally.answered {
		assert.Equal(t, entry{a.key, price}, events[id+"/0"])
	}
}

// leaveTo stops all servers but one.
func (f *fleet) leaveTo(t *testing.T, one int) {
	t.Helper()
	for i, v := range f.servers {
		if i != one {
			v.stop(t)
		}
	}
}

// untilRefused makes calls one by one until a call is refused.
func (y *tally) untilRefused(t *testing.T, base string, key testKey) {
	t.Helper()
	client, before := newClient(), len(y.refused)
	defer client.CloseIdleConnections()
	for len(y.refused) == before {
		require.True(t, y.call(t.Context(), client, base, key))
		require.Empty(t, y.wrong)
	}
}

// A server is killed that has a slice of a budget and a call in flight. The other
// servers never spend the slice, and every answered call is charged.
func TestTheSliceOfAKilledProcessCountsUntilItExpires(t *testing.T) {
	t.Parallel()
	f, tally := newFleet(t, 2, "-leases"), newTally()
	key, client := f.key(t, hotLimit), newClient()
	defer client.CloseIdleConnections()
	for range 12 { // one call, then calls from slices of 2, 4 and 8
		require.True(t, tally.call(t.Context(), client, f.bases[0], key))
	}
	require.Len(t, tally.answered, 12)
	wire := newTripwire(1)
	f.up.wire.Store(wire)
	var under errgroup.Group
	under.Go(func() error {
		tally.call(t.Context(), client, f.bases[0], key)
		return nil
	})
	<-wire.tripped
	f.servers[0].kill(t)
	require.NoError(t, under.Wait())
	tally.untilRefused(t, f.bases[1], key)
	f.servers[1].stop(t)

	b := openBooks(t, f.o)
	defer b.close(t)
	on := b.ofKey(t, key.hash)
	assert.Equal(t, hotLimit, on.Spent.Total+on.Held.Total, "spent %v, held %v", on.Spent.Total, on.Held.Total)
	assert.Equal(t, 1, b.addUp(t), "the slice is held")
	assert.GreaterOrEqual(t, on.Held.Total, 2*price, "the held slice still has the price of two calls")
	assert.Zero(t, expireAfter(t, f.o, f.getenv, 2*time.Minute), "not yet")
	assert.Equal(t, 1, expireAfter(t, f.o, f.getenv, 10*time.Minute))
	assert.Zero(t, b.addUp(t), "nothing is held")
	assert.Equal(t, hotLimit, b.ofKey(t, key.hash).Spent.Total)
	events := b.events(t)
	for id, a := range tally.answered {
		assert.Equal(t, entry{a.key, price}, events[id+"/0"])
		delete(events, id+"/0")
	}
	for id, e := range events { // unanswered: the slice, and perhaps the call in flight
		assert.True(t, strings.HasPrefix(id, "lease-") && e.cost == on.Held.Total || tally.unknown == 1 && e.cost == price, "%s %v", id, e)
	}
	assert.LessOrEqual(t, len(events), 1+tally.unknown)
}

func (f *fleet) getenv(name string) string {
	return map[string]string{sealingEnv: testSealingKey}[name]
}
