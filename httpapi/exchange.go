package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// keepBuffer is the largest reply buffer that is kept for the next request.
const keepBuffer = 64 << 10

// exchange is one request and its reply. It belongs to the goroutine that
// serves the request and is reused afterwards; nothing may keep it.
type exchange struct {
	s         *surface
	w         http.ResponseWriter
	r         *http.Request
	probe     probe
	requestID string
	began     time.Time // when the request came; zero where the surface has no deadline
	principal router.Principal
	call      *router.Call // nil until a decision was asked for
	held      int64        // bytes of the server's room
	release   func()       // tells the Admitter that the exchange is over; may be nil

	status     int
	out        []byte               // the reply's body
	parts      parts                // the reply's body where it is too large for out, or nil
	retryAfter int                  // seconds; 0 says nothing
	rate       *keys.RateLimitError // that refused, or nil
	sent       bool
}

// parts gives send each part of a reply, with the number of its rows.
type parts func(ctx context.Context, send func(json []byte, n int) error) error

// begin makes x ready for one request.
func (x *exchange) begin(s *surface, w http.ResponseWriter, r *http.Request) {
	*x = exchange{s: s, w: w, r: r, status: http.StatusOK, out: x.out[:0]}
	if x.requestID = requestID(r.Header["X-Request-Id"]); x.requestID == "" {
		x.requestID = s.NewRequestID()
	}
	if s.timeout > 0 {
		x.began = s.Now()
	}
}

// recycle forgets the request and keeps the buffer.
func (x *exchange) recycle() {
	s, out := x.s, x.out[:0]
	if cap(out) > keepBuffer {
		out = nil
	}
	*x = exchange{out: out}
	s.exchanges.Put(x)
}

// requestID returns the first acceptable id, or "".
func requestID(values []string) string {
	for _, v := range values {
		if router.VisibleASCII(v) {
			return v
		}
	}
	return ""
}

// send writes the reply: headers, then the body.
func (x *exchange) send(ctx context.Context) {
	x.sent = true
	h, body := x.w.Header(), x.out
	x.corsHeaders(h)
	if x.status == http.StatusNoContent { // the answer to a preflight
		h["X-Request-Id"] = []string{x.requestID}
		x.w.WriteHeader(x.status)
		return
	}
	zipped := x.compresses(h)
	if zipped && x.parts == nil {
		p := x.pack()
		defer p.keep(x.s.server)
		body = p.out.Bytes()
	}
	// One array for the values of the headers that every reply has. It is not
	// reused: net/http reads it after the handler has returned.
	v := [4]string{"application/json", "", x.requestID}
	h["Content-Type"], h["X-Request-Id"] = v[0:1:1], v[2:3:3]
	if x.parts == nil {
		v[1] = strconv.Itoa(len(body))
		h["Content-Length"] = v[1:2:2]
	}
	if x.call != nil && x.call.ID != "" {
		v[3] = x.call.ID
		h["X-Generation-Id"] = v[3:4:4]
	}
	if x.call != nil && x.call.Report.Replayed {
		h["Idempotent-Replayed"] = []string{"true"}
	}
	if x.s.native {
		h["X-Typesafe-Request-Id"] = v[2:3:3]
	}
	if x.status != http.StatusOK {
		x.refusalHeaders(h)
	}
	x.w.WriteHeader(x.status)
	if x.parts != nil {
		x.sendParts(ctx, zipped)
		return
	}
	_ = x.write(body) // it fails when the caller is gone; nobody is left to be told
}

// vary says that the reply depends on a header of the request.
func vary(h http.Header, name string) {
	if before := h["Vary"]; len(before) > 0 {
		name = before[0] + ", " + name
	}
	h["Vary"] = []string{name}
}

// refusalHeaders adds what some errors carry besides their body.
func (x *exchange) refusalHeaders(h http.Header) {
	switch x.status {
	case http.StatusUnauthorized:
		h["Www-Authenticate"] = []string{"Bearer"}
	case http.StatusMethodNotAllowed:
		h["Allow"] = x.probe.header["Allow"]
	}
	if e := x.rate; e != nil {
		h["X-Ratelimit-Limit"] = []string{strconv.Itoa(e.Limit)}
		h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(e.Remaining)}
		h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(millis(e.Reset), 10)}
	}
	if x.retryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(x.retryAfter)}
	}
}

// millis is t in milliseconds since the epoch, rounded up: by then it is past.
func millis(t time.Time) int64 {
	return t.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}
