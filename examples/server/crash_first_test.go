package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
)

// A first start that is killed needs no repair, whether it was migrating tables or
// making the organization or its keys. In the end there is one set of keys: the last
// one that was shown.
func TestKilledFirstStartsLeaveOneSetOfKeys(t *testing.T) {
	t.Parallel()
	lasting(t, func(t *testing.T, o options, env map[string]string) {
		t.Helper()
		rnd := seeded(t)
		up := newPricedUpstream(t, rnd, 1, 0)
		rounds := int(number(t, killsEnv, 20)) / 4
		if o.postgres != "" {
			rounds = 1 // each start waits ten seconds for the process before, which may be alive
		}
		for range rounds {
			if o.data != "" {
				o.data = filepath.Join(t.TempDir(), "data")
			}
			c := &crash{o: o, env: env, keysFile: filepath.Join(t.TempDir(), "keys.json"), config: up.config(t, "0")}
			for range 1 + rnd.IntN(4) {
				c.launchUntil(t, time.After(time.Duration(rnd.Int64N(int64(50*time.Millisecond)))))
			}
			c.begun(t)
		}
	})
}

// launchUntil starts a server and kills it at a moment.
func (c *crash) launchUntil(t *testing.T, moment <-chan time.Time) {
	t.Helper()
	v := c.launch(t)
	if v.listening(t, moment) != "" {
		select {
		case <-moment:
		case <-time.After(patience):
			assert.Fail(t, "the moment does not come")
		}
	}
	v.kill(t)
}

// begun starts a server, does not kill it, and uses the keys.
func (c *crash) begun(t *testing.T) {
	t.Helper()
	v := c.launch(t)
	base := v.listening(t, nil)
	f, ok := keysIn(t, c.keysFile)
	require.True(t, ok, "the keys were handed out")
	assert.Equal(t, base, f.BaseURL)
	client := newClient()
	defer client.CloseIdleConnections()
	status, text, err := talk(t.Context(), client, f.ManagementKey, http.MethodGet, base+"/keys", "")
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status, "%s", text)
	assert.Equal(t, 1, strings.Count(string(text), `"hash"`), "%s", text)
	status, text, err = talk(t.Context(), client, f.InferenceKey, http.MethodPost, base+"/systemone", decide)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status, "%s", text)
	v.stop(t)

	kept, err := openStorage(t.Context(), c.o, c.getenv)
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.close()) }()
	admins, err := kept.set.Keys.List(t.Context(), demoAccount, keys.Query{Management: true, IncludeDisabled: true, Limit: keys.PageSize})
	require.NoError(t, err)
	assert.Len(t, admins, 1)
	a, err := kept.set.Organization.Account(t.Context(), demoAccount)
	require.NoError(t, err)
	assert.Equal(t, "Demo", a.Name, "the first start has ended")
}
