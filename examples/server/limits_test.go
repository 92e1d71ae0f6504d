package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
)

func TestLimitsAreFlags(t *testing.T) {
	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, limits{bodies: 256 << 20}, o.limits)
	o, err = parse([]string{
		"-bodies", "1GiB", "-key-bodies", "5000", "-account-bodies", "96MiB",
		"-key-rate", "100/1s", "-key-concurrent", "8", "-workspace-rate", "5/1m30s", "-account-concurrent", "64",
	}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, limits{
		bodies: 1 << 30, keyBodies: 5000, accountBodies: 96 << 20,
		rates: keys.RateLimits{
			Key:       keys.Rate{Requests: 100, Per: time.Second, Concurrent: 8},
			Workspace: keys.Rate{Requests: 5, Per: 90 * time.Second},
			Account:   keys.Rate{Concurrent: 64},
		},
	}, o.limits)
	assert.Equal(t, "1GiB 5000 96MiB", fmt.Sprintf("%s %s %s", &o.limits.bodies, &o.limits.keyBodies, &o.limits.accountBodies))
}

func TestLimitsThatMakeNoSense(t *testing.T) {
	for _, args := range []string{
		"-bodies 0", "-bodies -1", "-bodies 1.5GiB", "-bodies 4MB", "-bodies GiB", "-bodies 99999999999GiB", "-key-bodies x", "-account-bodies -4KiB",
		"-key-rate 100", "-key-rate 100/", "-key-rate /1s", "-key-rate 0/1s", "-key-rate 5/0s", "-key-rate -5/1s", "-workspace-rate 5/-1s", "-account-rate a/b",
		"-key-concurrent -1", "-workspace-concurrent x", "-account-concurrent -2", "-key-rate 1/1s/1s",
	} {
		_, err := parse(strings.Fields(args), io.Discard)
		require.Error(t, err, args)
		assert.NotContains(t, err.Error(), "\n", args)
	}
}

// The service enforces the limits that the flags set.
func TestLimitsReachTheService(t *testing.T) {
	o, err := parse([]string{"-key-rate", "2/1h", "-bodies", "1MiB", "-key-bodies", "2KiB"}, io.Discard)
	require.NoError(t, err)
	catalog, err := builder{getenv: func(string) string { return "" }, warn: func(string) {}}.catalog(builtin())
	require.NoError(t, err)
	kept, err := openStorage(t.Context(), o, func(string) string { return "" })
	require.NoError(t, err)
	s, err := newService(t.Context(), catalog, kept, o, time.Now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ask := func(size int) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/v1/systemone", strings.NewReader(strings.Repeat(" ", size)))
		r.Header.Set("Authorization", "Bearer "+string(s.access.inference))
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		return w.Code, w.Header().Get("X-Ratelimit-Limit")
	}
	status, limit := ask(3 << 10)
	assert.Equal(t, 429, status, "the share of a key")
	assert.Empty(t, limit)
	status, _ = ask(1 << 10)
	assert.Equal(t, 400, status, "no JSON, but room")
	status, limit = ask(1 << 10)
	assert.Equal(t, 429, status, "the rate of a key")
	assert.Equal(t, "2", limit)
}
