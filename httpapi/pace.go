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
// A timer looks, not a deadline of the connection, which would have to be made
// from the real clock.
type pace struct {
	x     *exchange
	every time.Duration
	least int64

	mu    sync.Mutex
	timer *time.Timer
	came  int64 // bytes since the last look
	slow  bool
	cut   bool // the connection was made unusable for that
	over  bool // nothing is read any more; a look that comes late does nothing
}

// watch begins to look at the body of x. The caller must end it.
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
		// The ResponseWriter may be the embedding program's, and an unrecovered
		// panic in this goroutine would end the process.
		_ = panics.Catch(func() error {
			p.cut = p.x.breakRead()
			return nil
		})
	default:
		p.came = 0
		p.timer.Reset(p.every)
	}
}

// Read reads the body in small steps where its length is not known: a chunked
// body of net/http otherwise returns when all that was asked for has come, which
// looks slow. The error is errTooSlow once the body was too slow, also where its
// connection could not be made to say so.
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

// end stops looking and says whether the body was too slow. One that is whole
// by now is not, unless its connection was cut. Nothing touches the connection
// afterwards.
func (p *pace) end(whole bool) (slow bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.timer.Stop()
	return p.cut || p.slow && !whole
}

// breakRead makes a Read of the body that waits return with an error, by a
// deadline long past, and says whether the connection took it. Where the
// ResponseWriter knows no deadlines the body is closed, but for that of an
// http.Server over HTTP/1, which would read on by itself. So a caller that sends
// nothing at all, behind a writer that hides its connection (no Unwrap), is left
// to the ReadTimeout of that server.
func (x *exchange) breakRead() (cut bool) {
	if http.NewResponseController(x.w).SetReadDeadline(time.Unix(1, 0)) == nil {
		return true
	}
	if x.r.ProtoMajor > 1 || x.r.Context().Value(http.ServerContextKey) == nil {
		_ = x.r.Body.Close()
	}
	return false
}
