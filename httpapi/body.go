package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

const (
	// firstRead is how much is set aside for a body before any of it has come:
	// what a caller announces costs nothing until it is sent.
	firstRead = 64 << 10
	// drainBytes and drainTime bound what is read and dropped of a body that is
	// too large. A client that is still sending when the connection is closed
	// sees a reset instead of the 413.
	drainBytes = 16 << 20
	drainTime  = 5 * time.Second
)

// body returns the request's body, which is not reused: what is decoded from
// it points into it, and interceptors and upstream clients of the embedding
// program may hold on to that longer than they should.
func (x *exchange) body() ([]byte, error) {
	if err := checkContent(x.r.Header); err != nil {
		return nil, err
	}
	limit, size := x.s.MaxBytes, x.r.ContentLength
	if size > limit {
		x.drain()
		return nil, errTooLarge
	}
	first := int64(4 << 10) // of a body that does not say how long it is
	if size >= 0 {
		first = min(size, firstRead)
	}
	buf := make([]byte, 0, first)
	for int64(len(buf)) != size { // a size of -1 is never reached
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(cap(buf), int(limit)+1-len(buf)))
		}
		n, err := x.r.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			x.drain()
			return nil, errTooLarge
		case errors.Is(err, io.EOF) && (size < 0 || int64(len(buf)) == size):
			return buf, nil
		case err != nil:
			return nil, badRequest("", "the body could not be read to its end")
		}
	}
	return buf, nil
}

// drain reads on for a while, so that a client that sends first and reads
// later gets to see its 413. A client that waits for a 100 is not invited to
// send at all.
func (x *exchange) drain() {
	if x.r.Header.Get("Expect") != "" || x.r.ContentLength > drainBytes {
		return
	}
	// A connection that knows no deadlines is still bounded by drainBytes.
	_ = http.NewResponseController(x.w).SetReadDeadline(x.s.Now().Add(drainTime))
	_, _ = io.CopyN(io.Discard, x.r.Body, drainBytes)
}

// checkContent refuses bodies that are announced as something other than
// plain JSON.
func checkContent(h http.Header) error {
	for _, v := range h["Content-Type"] {
		if v == "application/json" || v == "" {
			continue
		}
		// A parameter that cannot be parsed does not make it another type.
		if media, _, err := mime.ParseMediaType(v); media != "application/json" || err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
			return badRequest("content-type", "the body must be application/json")
		}
	}
	for _, v := range h["Content-Encoding"] {
		if v != "" && !strings.EqualFold(v, "identity") {
			return badRequest("content-encoding", "the body must not be encoded")
		}
	}
	return nil
}

// badRequest is a 400 with one issue.
func badRequest(path, message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Path: path, Message: message}}}
}
