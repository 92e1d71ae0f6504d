package httpapi

import (
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
)

// paceEvery is the interval at which an incomplete body is checked. It is longer
// than the usual pauses of mobile networks.
const (
	paceSeconds = 10
	paceEvery   = paceSeconds * time.Second
	leastStep   = 512 // bytes
)

// pace is a request body that ends when it arrives too slowly: each interval must
// bring least bytes until the body is complete. Bytes that arrived earlier do not
// count for a later interval, because they hold room meanwhile.
//
// A timer checks the speed instead of a deadline of the connection, because a deadline
// would have to come from the real clock.
type pace struct {
	x     *exchange
	every time.Duration
	least int64

	mu    sync.Mutex
	timer *time.Timer
	came  int64 // bytes since the last check
	slow  bool
	cut   bool // the connection was cut because of that
	over  bool // the body is no longer read, so a late check does nothing
}

// watch starts to check the speed of x's body. The caller must call end.
func (x *exchange) watch(every time.Duration, least int64) *pace {
	p := &pace{x: x, every: every, least: least}
	p.mu.Lock() // look needs the timer
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(every, p.look)
	return p
}

func (p *pace) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
	case p.came < p.least:
		p.slow = true
		// The ResponseWriter may be the embedding program's, and an unrecovered panic
		// in this goroutine would end the process.
		_ = panics.Catch(func() error {
			p.cut = p.x.breakRead()
			return nil
		})
	default:
		p.came = 0
		p.timer.Reset(p.every)
	}
}

// Read reads a body of unknown length in small steps. A Read of a chunked body
// otherwise returns only when all requested bytes have arrived, which looks slow. The
// error is errTooSlow once the body is too slow, even if its connection could not be
// cut.
func (p *pace) Read(b []byte) (n int, err error) {
	if p.x.r.ContentLength < 0 {
		b = b[:min(int64(len(b)), max(p.x.s.MinBodyRate, leastStep))]
	}
	n, err = p.x.r.Body.Read(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came += int64(n)
	if err == nil && p.slow {
		err = errTooSlow
	}
	return n, err
}

// end stops the checks and reports whether the body was too slow. A complete body is
// not too slow, unless its connection was cut. The connection is not used after end.
func (p *pace) end(whole bool) (slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.timer.Stop()
	return p.cut || p.slow && !whole
}

// breakRead makes a blocked Read of the body return with an error, by a read deadline
// in the past. It reports whether the ResponseWriter supports deadlines. If it does
// not, the body is closed instead, except with HTTP/1 in an http.Server, where Close
// would read on. A caller that sends nothing, behind a writer that hides its connection
// (no Unwrap), is therefore bounded only by that server's ReadTimeout.
func (x *exchange) breakRead() (cut bool) {
	if http.NewResponseController(x.w).SetReadDeadline(time.Unix(1, 0)) == nil {
		return true
	}
	if x.r.ProtoMajor > 1 || x.r.Context().Value(http.ServerContextKey) == nil {
		_ = x.r.Body.Close()
	}
	return false
}
