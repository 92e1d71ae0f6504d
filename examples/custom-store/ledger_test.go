package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/storetest"
)

// TestConformance runs the public suite, which every store must pass.
func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		ledger, err := Open(t.Context(), filepath.Join(t.TempDir(), "ledger"))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, ledger.Close()) })
		return store.Set{Ledger: ledger}
	})
}

// balance opens the ledger in a file and returns the balance of the line.
func balance(t *testing.T, path string) (router.Balance, error) {
	t.Helper()
	l, err := Open(t.Context(), path)
	if err != nil {
		return router.Balance{}, err
	}
	defer func() { require.NoError(t, l.Close()) }()
	all, err := l.Balances(t.Context(), []router.Line{line})
	require.NoError(t, err)
	return all[0], nil
}

// TestPowerCut cuts the file at every byte. The ledger then has exactly the changes
// whose lines are complete.
func TestPowerCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := Open(t.Context(), path)
	require.NoError(t, err)
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var sizes []int64
	var states []router.Balance
	note := func(err error) {
		require.NoError(t, err)
		info, err := os.Stat(path)
		require.NoError(t, err)
		all, err := l.Balances(t.Context(), []router.Line{line})
		require.NoError(t, err)
		sizes, states = append(sizes, info.Size()), append(states, all[0])
	}
	note(nil)
	for _, id := range ids {
		note(l.Reserve(t.Context(), hold(id, 3)))
	}
	note(l.Settle(t.Context(), ids[0], router.Amount{Credit: cent, Total: 2 * cent}))
	note(l.Void(t.Context(), ids[1]))
	n, err := l.Expire(t.Context(), time.Now().Add(time.Hour), 10, router.ExpirePost)
	note(err)
	assert.Equal(t, 1, n)
	require.NoError(t, l.Close())

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	last := 0
	for size := range len(text) + 1 {
		if last+1 < len(sizes) && int64(size) >= sizes[last+1] {
			last++
		}
		require.NoError(t, os.WriteFile(path, text[:size], 0o600))
		got, err := balance(t, path)
		require.NoError(t, err, "cut at %d", size)
		require.Equal(t, states[last], got, "cut at %d", size)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, sizes[last], info.Size(), "half a change is gone")
	}
	assert.Equal(t, len(sizes)-1, last)
}

func TestDamageIsNotHidden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	require.NoError(t, spend(t.Context(), path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte("0.05"), []byte("0.04"), 1), 0o600))
	_, err = balance(t, path)
	require.ErrorIs(t, err, errRecord)
	assert.ErrorContains(t, err, "line 2: ")
}

// A time that the file cannot represent is refused, and the file stays valid.
func TestAnInstantThatTheFileCannotSay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := Open(t.Context(), path)
	require.NoError(t, err)
	late := time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	h := hold(uuid.New(), 3)
	require.NoError(t, l.Reserve(t.Context(), h))
	h.ID, h.Deadline = uuid.New(), late
	require.ErrorContains(t, l.Reserve(t.Context(), h), "year")
	_, err = l.Expire(t.Context(), late, 10, router.ExpirePost)
	require.ErrorContains(t, err, "year")
	require.NoError(t, l.Reserve(t.Context(), hold(uuid.New(), 2)))
	require.NoError(t, l.Close())
	got, err := balance(t, path)
	require.NoError(t, err)
	assert.Equal(t, router.Balance{Held: router.Amount{Credit: 5 * cent, Total: 5 * cent}}, got)
}

func TestAFileThatTakesNothingEndsTheLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := Open(t.Context(), path)
	require.NoError(t, err)
	writable := l.file
	l.file, err = os.Open(path) // read-only
	require.NoError(t, err)
	err = l.Reserve(t.Context(), hold(uuid.New(), 3))
	require.ErrorContains(t, err, "a change may be lost")
	require.ErrorIs(t, err, router.ErrFinal, "a retry cannot succeed")
	_, again := l.Balances(t.Context(), []router.Line{line})
	require.Equal(t, err, again, "what stands in memory only is not told")
	require.NoError(t, errors.Join(l.Close(), writable.Close()))
	got, err := balance(t, path)
	require.NoError(t, err)
	assert.Zero(t, got)
}
