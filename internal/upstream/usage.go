package upstream

import (
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Counts reads the two counts of a usage object, each under the first of its names
// that is present and not null, and reports which are missing. ok is false where a
// count is negative or no whole number.
func Counts(usage []byte, input, output []string) (in, out int64, missing router.Uncounted, ok bool) {
	in, missing.Input, ok = firstCount(usage, input)
	if !ok {
		return 0, 0, missing, false
	}
	out, missing.Output, ok = firstCount(usage, output)
	return in, out, missing, ok
}

func firstCount(usage []byte, names []string) (n int64, missing, ok bool) {
	for _, name := range names {
		if value := Member(usage, name); value != nil {
			n, ok = systemone.ParseCount(value)
			return n, false, ok
		}
	}
	return 0, true, true
}
