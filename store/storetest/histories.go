package storetest

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
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
	all := checks()
	for n := range all {
		var input []byte
		for range words(n, all) {
			input = binary.LittleEndian.AppendUint64(input, draw.Uint64())
		}
		if !t.Run(fmt.Sprintf("history %d", n+1), func(t *testing.T) {
			rapid.MakeFuzz(func(rt *rapid.T) { law(t, rt) })(t, input)
		}) {
			return
		}
	}
}

// words returns how many random words the n-th of all histories has. They rise
// geometrically, from a few steps to far more than an average history needs. A history that
// uses up its words ends there, and its subtest is skipped if it passed so far.
func words(n, all int) int {
	const fewest, most = 64, 6400
	return int(fewest * math.Pow(most/fewest, float64(n)/float64(max(all-1, 1))))
}

// checks returns the number of histories: fewer in -short mode, as rapid does.
func checks() int {
	n := 100 // rapid's default
	if f := flag.Lookup("rapid.checks"); f != nil {
		n, _ = strconv.Atoi(f.Value.String()) // the flag has parsed it
	}
	if testing.Short() {
		n /= 5
	}
	return n
}
