package content

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSkipLeavesNothingOut holds that skip passes over no byte that it searches for.
// Where it stops, one of the next eight bytes matches.
func TestSkipLeavesNothingOut(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, look := range []struct {
		skip  func(b []byte, i int) int
		at    func(c byte) bool // the bytes that it must not skip
		stops func(c byte) bool // where it may stop
	}{
		{skipToDigit, isDigit, func(c byte) bool { return '0' <= c && c <= '?' }},
		{
			skipToCapital,
			func(c byte) bool { return 'A' <= c && c <= 'Z' },
			func(c byte) bool { return '@' <= c && c <= '_' },
		},
	} {
		for range 20_000 {
			b := make([]byte, random.IntN(64))
			for i := range b {
				if b[i] = ' ' + byte(random.IntN(8)); random.IntN(24) == 0 {
					b[i] = byte(random.IntN(256))
				}
			}
			from := random.IntN(len(b) + 1)
			to := look.skip(b, from)
			require.Zero(t, (to-from)%8)
			for _, c := range b[from:to] {
				require.False(t, look.at(c), "%q from %d to %d", b, from, to)
			}
			if len(b)-to < 8 {
				continue
			}
			found := false
			for _, c := range b[to : to+8] {
				found = found || look.stops(c)
			}
			require.True(t, found, "%q from %d to %d", b, from, to)
		}
	}
}
