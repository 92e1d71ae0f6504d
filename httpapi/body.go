package httpapi

import (
	"errors"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

const (
	// firstRead is how much is set aside for a body before any of it has come:
	// what a caller announces costs nothing until it is sent.
	firstRead = 64 << 10
	// unknownRead is the same of a body that does not say how long it is.
	unknownRead = 4 << 10
	// drainBytes and drainTime bound what is read and dropped of a body that is
	// refused. A client that is still sending when the connection is closed sees
	// a reset instead of the reply.
	drainBytes = 16 << 20
	drainTime  = 5 * time.Second
)

// body returns the request's body, which is not reused: what is decoded from
// it points into it, and interceptors and upstream clients of the embedding
// program may hold on to that longer than they should.
func (x *exchange) body() ([]byte, error) {
	from, size, err := x.source()
	if err != nil {
		return nil, err
	}
	limit := x.s.MaxBytes
	if size > limit {
		return nil, x.refuse(errTooLarge, 0)
	}
	first, most := min(size, firstRead), size
	if size < 0 { // it does not say how long it is; one byte more shows that it is too long
		first, most = unknownRead, min(limit, math.MaxInt-1)+1
	}
	if !x.hold(first) {
		return nil, x.refuse(errNoRoom, 0)
	}
	buf := make([]byte, 0, first)
	for int64(len(buf)) != size { // a size of -1 is never reached
		if len(buf) == cap(buf) {
			more := min(int64(cap(buf)), most-int64(cap(buf)))
			if !x.hold(more) {
				return nil, x.refuse(errNoRoom, len(buf))
			}
			buf = append(make([]byte, 0, int64(cap(buf))+more), buf...)
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return nil, x.refuse(errTooLarge, len(buf))
		case errors.Is(err, io.EOF) && (size < 0 || int64(len(buf)) == size):
			return withoutBOM(buf), nil
		case err != nil:
			return nil, x.unread(err, len(buf))
		}
	}
	return withoutBOM(buf), nil
}

// hold takes n bytes for the body from what all of them may hold, or says that
// there is no room.
func (x *exchange) hold(n int64) bool {
	if x.s.inFlight.Add(n) > x.s.MaxInFlightBytes {
		x.s.inFlight.Add(-n)
		return false
	}
	x.held += n
	return true
}

// letGo gives back what hold took.
func (x *exchange) letGo() {
	x.s.inFlight.Add(-x.held)
	x.held = 0
}

// refuse gives up a body, of which some bytes have been read, and returns why.
// It reads on for a while, so that a client that sends first and reads later
// gets to see its reply. A client that still waits for a 100 is not invited to
// send at all.
func (x *exchange) refuse(why error, read int) error {
	x.letGo() // what has been read is garbage from here on
	if read == 0 && x.r.Header.Get("Expect") != "" || x.r.ContentLength > drainBytes {
		return why
	}
	// The end comes by a timer and not by a deadline, which would have to be
	// made from the real clock. A connection that knows no deadlines is still
	// bounded by drainBytes.
	connection, ended := http.NewResponseController(x.w), make(chan struct{})
	timer := time.AfterFunc(drainTime, func() {
		defer close(ended)
		_ = connection.SetReadDeadline(time.Unix(1, 0)) // long past
	})
	defer func() {
		if !timer.Stop() {
			<-ended // nobody touches the connection when the handler has returned
		}
	}()
	_, _ = io.CopyN(io.Discard, x.r.Body, drainBytes)
	return why
}

// badRequest is a 400 with one issue.
func badRequest(path, message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Path: path, Message: message}}}
}
