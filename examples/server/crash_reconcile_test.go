package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// visit checks the storage of a dead server: no limit is exceeded. Then it expires all
// holds and requires that nothing is held.
func (c *crash) visit(t *testing.T, thorough bool) {
	t.Helper()
	left := openBooks(t, c.o)
	c.withinLimits(t, left)
	open := -1 // not known
	if thorough {
		open = left.addUp(t)
	}
	left.close(t)
	expired := expireAll(t, c.o, c.getenv)
	c.expired += expired
	if !thorough {
		return
	}
	assert.Equal(t, open, expired)
	b := openBooks(t, c.o)
	defer b.close(t)
	assert.Zero(t, b.addUp(t), "nothing is held")
	c.withinLimits(t, b)
}

func (c *crash) withinLimits(t *testing.T, b books) {
	t.Helper()
	for i, l := range c.limits {
		a := b.ofKey(t, c.keys[i].hash)
		assert.LessOrEqual(t, a.Spent.Total+a.Held.Total, l.asked, "a limit is passed: spent %v, held %v", a.Spent.Total, a.Held.Total)
	}
}

// reconcile compares what callers and the upstream have seen with the books, after all
// holds have expired.
func (c *crash) reconcile(t *testing.T) {
	t.Helper()
	b, y, seen := openBooks(t, c.o), c.tally, c.up.count()
	events := b.events(t)
	assert.Empty(t, y.wrong)

	calls := map[string]bool{} // ids of charged calls; true if settled, not expired
	for id := range events {
		call, what, _ := strings.Cut(id, "/")
		_, taken := events[id+"/corrected"]
		switch {
		case what == "held" && !taken:
			_, twice := calls[call]
			assert.False(t, twice, "%s is settled and posted", call)
			calls[call] = false
		case what == "0":
			calls[call] = true
		default:
			assert.True(t, taken || what == "held/corrected", "no call has two attempts: %s", id)
		}
	}

	lost, changed := 0, 0
	for id, a := range y.answered {
		e, ok := events[id+"/0"]
		if !ok {
			lost++
			t.Errorf("%s was answered and is lost", id)
		} else if (e != entry{a.key, a.cost}) {
			changed++
			t.Errorf("%s was answered with %v and kept as %v", id, a, e)
		}
		if seen[a.state] != 1 {
			t.Errorf("%s was answered, and the upstream was asked %d times", id, seen[a.state])
		}
	}
	y.refusedNowhere(t, seen)
	for state, n := range seen {
		if n != 1 {
			t.Errorf("%s was sent upstream %d times", state, n)
		}
	}
	assert.LessOrEqual(t, len(seen), len(calls), "the upstream was asked more often than is charged")
	unheard := len(calls) - len(y.answered)
	assert.LessOrEqual(t, unheard, y.unknown, "more unanswered calls are charged than were made")
	t.Logf("%d calls charged, %d lost, %d changed; the upstream was asked %d times", len(calls), lost, changed, len(seen))
	spent := map[string]router.USD{}
	for _, e := range events {
		spent[e.key] += e.cost
	}
	for _, k := range c.keys {
		assert.Equal(t, spent[k.hash], b.ofKey(t, k.hash).Spent.Total)
	}
	b.close(t)
	c.told(t, spent)
}

// told compares the replies about keys and activity with the sum of the events. It
// advances the clock by a day first, because activity covers only past days.
func (c *crash) told(t *testing.T, spent map[string]router.USD) {
	t.Helper()
	settings, err := readConfig(c.config)
	require.NoError(t, err)
	catalog, err := builder{getenv: c.getenv, warn: func(string) {}}.catalog(settings)
	require.NoError(t, err)
	kept, err := openStorage(t.Context(), c.o, c.getenv)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.close()) }()
	tomorrow := func() time.Time { return time.Now().Add(24 * time.Hour) }
	s, err := newService(t.Context(), catalog, kept, options{}, tomorrow, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, s.first, "the keys were shown once")
	p := &process{s, kept}

	total := router.USD(0)
	for _, k := range c.keys {
		_, usage, err := keyFigures([]byte(p.must(t, c.admin, http.MethodGet, "/keys/"+k.hash, "")))
		require.NoError(t, err)
		assert.Equal(t, spent[k.hash], usage)
		total += usage
	}
	assert.Equal(t, total, activityOf(t, p.must(t, c.admin, http.MethodGet, "/activity", "")))
}

// activityOf sums up a reply about activity.
func activityOf(t *testing.T, text string) (total router.USD) {
	t.Helper()
	var reply struct {
		Data []struct {
			Usage json.Number `json:"usage"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &reply))
	for _, item := range reply.Data {
		usage, err := router.ParseUSD(item.Usage.String())
		require.NoError(t, err)
		total += usage
	}
	return total
}
