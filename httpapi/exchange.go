package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// keepBuffer is the capacity of the largest reply buffer that is reused.
const keepBuffer = 64 << 10

// exchange is one request and its reply. It belongs to the goroutine that serves the
// request, and is reused afterwards, so no other goroutine may keep it.
type exchange struct {
	s         *surface
	w         http.ResponseWriter
	r         *http.Request
	probe     probe
	requestID string
	began     time.Time // arrival of the request; zero if the surface has no deadline and no observer
	principal router.Principal
	call      *router.Call // nil until a decision begins
	held      int64        // bytes taken from the server's room
	release   func()       // returned by the Admitter; may be nil

	status     int
	out        []byte               // the reply's body
	parts      parts                // the reply's body if it is too large for out, otherwise nil
	retryAfter int                  // seconds; 0 sends no header
	rate       *keys.RateLimitError // the limit that refused the request, or nil
	sent       bool
	observed   bool // Config.Observe was called
}

// parts calls send with each part of a reply and its number of rows.
type parts func(ctx context.Context, send func(json []byte, n int) error) error

// begin prepares x for a request.
func (x *exchange) begin(s *surface, w http.ResponseWriter, r *http.Request) {
	*x = exchange{s: s, w: w, r: r, status: http.StatusOK, out: x.out[:0]}
	if x.requestID = requestID(r.Header["X-Request-Id"]); x.requestID == "" {
		x.requestID = s.NewRequestID()
	}
	if s.timeout > 0 || s.Observe != nil {
		x.began = s.Now()
	}
}

// recycle clears x and puts it back for reuse, with its buffer unless that is large.
func (x *exchange) recycle() {
	s, out := x.s, x.out[:0]
	if cap(out) > keepBuffer {
		out = nil
	}
	*x = exchange{out: out}
	s.exchanges.Put(x)
}

// requestID returns the first valid id, or "".
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
	// One array holds the values of the headers that every reply has. It is not reused,
	// because net/http reads it after the handler has returned.
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
	if x.status == http.StatusOK && x.call != nil && len(x.call.Report.Legs) > 1 {
		x.fallbackHeaders(h)
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
	_ = x.write(body) // an error means that the caller has hung up
}

// vary adds name to the Vary header, because the reply depends on that request header.
func vary(h http.Header, name string) {
	if before := h["Vary"]; len(before) > 0 {
		name = before[0] + ", " + name
	}
	h["Vary"] = []string{name}
}

// refusalHeaders sets the headers that some errors carry besides their body.
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

// millis returns t in milliseconds since the epoch, rounded up, so that t is past at
// that time.
func millis(t time.Time) int64 {
	return t.Add(time.Millisecond - time.Nanosecond).UnixMilli()
}
