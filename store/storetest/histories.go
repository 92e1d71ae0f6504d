package storetest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// histories runs a law on random histories. Unlike [rapid.Check] it writes no files and
// does not shrink a history that fails, which takes half a minute on a slow store.
// Instead the histories grow, so that the first one that fails is short. Each runs in a
// subtest of its own, whose output is what was drawn.
//
// -rapid.checks is the number of histories. SIGNALBOX_TEST_SEED repeats those of the
// run that logged it.
func histories(t *testing.T, law func(t *testing.T, rt *rapid.T)) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SIGNALBOX_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("SIGNALBOX_TEST_SEED: %v", err)
		}
	}
	t.Logf("SIGNALBOX_TEST_SEED=%d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	for n := range checks() {
		var input []byte
		for range growth * (n + 1) {
			input = binary.LittleEndian.AppendUint64(input, draw.Uint64())
		}
		if !t.Run(fmt.Sprintf("history %d", n+1), func(t *testing.T) {
			rapid.MakeFuzz(func(rt *rapid.T) { law(t, rt) })(t, input)
		}) {
			return
		}
	}
}

// growth is how many random words each history has more than the one before: enough for
// a few steps. A history that uses up its words ends there, and its subtest is skipped
// if it passed so far.
const growth = 64

// checks returns the number of histories.
func checks() int {
	const byDefault = 100 // as rapid
	n := byDefault
	if f := flag.Lookup("rapid.checks"); f != nil {
		n, _ = strconv.Atoi(f.Value.String()) // the flag has parsed it
	}
	return n
}
