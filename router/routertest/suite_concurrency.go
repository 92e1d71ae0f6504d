package routertest

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// The number of goroutines, and of requests of each.
const (
	askers = 8
	rounds = 25
)

// numbered is request number n of count. Answers and requests differ in every
// relevant byte, so that a shared buffer is detected.
func numbered(n int) *systemone.Request {
	options := make([]string, 2+n%7)
	for i := range options {
		options[i] = fmt.Sprintf("%d-%d", n, i)
	}
	return ask(text(marker(n)), choose("desk "+strconv.Itoa(n), options...), noul("refund"))
}

func marker(n int) string { return fmt.Sprintf("<marker-%d>", n) }

// testConcurrency: concurrent attempts do not mix.
func testConcurrency(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	const count = askers * rounds
	attempts := make([]router.Attempt, count)
	replies := make([][]byte, count)
	for n := range attempts {
		attempts[n] = b.attempt(numbered(n))
		replies[n] = w.Encode(attempts[n], defaultReply(attempts[n]))
	}
	b.answer(func(rw http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		for n := range replies {
			// Some encoders escape the angle brackets.
			if bytes.Contains(body.Bytes(), []byte("marker-"+strconv.Itoa(n)+">")) ||
				bytes.Contains(body.Bytes(), []byte("marker-"+strconv.Itoa(n)+`\u003e`)) {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = rw.Write(replies[n])
				return
			}
		}
		rw.WriteHeader(http.StatusTeapot)
	})
	var all sync.WaitGroup
	for asker := range askers {
		all.Go(func() {
			for round := range rounds {
				n := asker*rounds + round
				got, err := b.provider.Decide(t.Context(), attempts[n])
				if assert.NoError(t, err) {
					assert.NoError(t, systemone.Check(attempts[n].Request, got.Answers, w.Tolerance))
				}
			}
		})
	}
	all.Wait()
}
