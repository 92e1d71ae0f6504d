package routertest

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// leavesNoGoroutine runs a test and requires that every goroutine started by it has
// ended when its servers are closed.
func leavesNoGoroutine(t *testing.T, test func()) {
	t.Helper()
	before := goroutines()
	t.Cleanup(func() { // runs last, after the cleanups that the test adds
		var left []string
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(time.Millisecond) {
			left = left[:0]
			for id, stack := range goroutines() {
				if _, old := before[id]; !old && !strings.Contains(stack, "created by testing.") {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
		}
		assert.Empty(t, left, "a goroutine is left")
	})
	test()
}

// goroutines returns the stacks of all goroutines except the current one, by id.
func goroutines() map[string]string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	all := map[string]string{}
	for i, stack := range bytes.Split(buf, []byte("\n\n")) {
		if i == 0 {
			continue
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(string(stack), "goroutine "), " ")
		all[id] = string(stack)
	}
	return all
}
