package memory_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/memory"
	"github.com/signalbox/signalbox/store/storetest"
)

// breakage names, to a child process, what is wrong with its store.
const breakage = "SIGNALBOX_TEST_BREAKAGE"

type ledger interface {
	router.Ledger
	router.Recorder
}

type neverVoids struct{ ledger }

func (neverVoids) Void(context.Context, uuid.UUID) error { return nil }

type neverCharges struct{ ledger }

func (neverCharges) Settle(context.Context, uuid.UUID, router.Amount) error { return nil }

type neverDone struct{ store.Pruner }

func (neverDone) Prune(context.Context, time.Time, string, int) (store.Pruned, error) {
	return store.Pruned{Next: "on"}, nil
}

// TestBroken is the part of the child processes of TestABrokenStoreFailsSoon.
func TestBroken(t *testing.T) {
	broken := os.Getenv(breakage)
	if broken == "" {
		t.Skip("runs in child processes only")
	}
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		set := memory.New()
		l, ok := set.Ledger.(ledger)
		require.True(t, ok)
		switch broken {
		case "voids":
			set.Ledger = neverVoids{l}
		case "charges":
			set.Ledger = neverCharges{l}
		case "prunes":
			set.Pruner = neverDone{}
		}
		return set
	})
}

// A store that breaks a promise fails within seconds, under the name of the promise. The
// suite leaves nothing in the folder of its caller.
func TestABrokenStoreFailsSoon(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for broken, want := range map[string]string{
		"voids":   "--- FAIL: TestBroken/Ledger/random_histories_have_the_results_of_the_model",
		"charges": "--- FAIL: TestBroken/Ledger/random_histories_have_the_results_of_the_model",
		"prunes":  "the lap does not end",
	} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, self, "-test.run=^TestBroken$")
			cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), breakage+"="+broken)
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.NoError(t, ctx.Err(), "it takes too long")
			assert.Contains(t, string(out), want)
			left, err := os.ReadDir(cmd.Dir)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}
