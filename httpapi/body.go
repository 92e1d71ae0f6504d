package httpapi

import (
	"errors"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

const (
	// firstRead is how much is set aside for a body when its first byte has come.
	firstRead = 4 << 10
	// smallBody is the size of the largest body that is parsed without waiting for
	// others.
	smallBody = 64 << 10
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
	zipped, err := checkContent(x.r.Header)
	if err != nil {
		return nil, err
	}
	size := x.r.ContentLength
	switch {
	case zipped:
		size = -1 // only the end tells what comes out
		if err := x.hold(unpackBytes); err != nil {
			return nil, x.refuse(err, 0)
		}
	case size > x.s.MaxBytes:
		return nil, x.refuse(errTooLarge, 0)
	}
	p := x.watch(paceEvery, min(x.s.MinBodyRate, math.MaxInt64/paceSeconds)*paceSeconds)
	from := io.Reader(p)
	if zipped {
		from = x.unpack(p)
	}
	buf, err := x.read(from, size)
	switch slow := p.end(err == nil); {
	case slow:
		if x.r.ProtoMajor == 1 { // or net/http would wait for more of the body before it replies
			x.w.Header()["Connection"] = []string{"close"}
		}
		return nil, badRequest("", "the body came too slowly: it must bring "+strconv.FormatInt(x.s.MinBodyRate, 10)+" bytes a second")
	case err != nil:
		return nil, x.unread(err, len(buf))
	}
	return withoutBOM(buf), nil
}

// read reads a body of size bytes, or of -1 where it does not say. It holds room
// for what has arrived and at most as much again. A body that was only announced
// holds one byte, so that a caller that waits for 100 Continue is refused where
// there is no room at all. With an error it returns what it has read.
func (x *exchange) read(from io.Reader, size int64) ([]byte, error) {
	limit, most := x.s.MaxBytes, size
	if size < 0 {
		most = mostRead(limit)
	}
	var buf []byte
	for int64(len(buf)) != size { // a size of -1 is never reached
		if len(buf) == cap(buf) {
			var err error
			if buf, err = x.grow(buf, most); err != nil {
				return buf, err
			}
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf, errTooLarge
		case errors.Is(err, io.EOF) && (size < 0 || int64(len(buf)) == size):
			return buf, nil
		case err != nil && int64(len(buf)) != size:
			return buf, err
		}
	}
	return buf, nil
}

// mostRead is how much is read of a body of unknown length: one byte more than
// the limit shows that it is too long.
func mostRead(limit int64) int64 { return min(limit, math.MaxInt-1) + 1 }

// grow returns buf with more room, to a byte, to firstRead and then to twice as
// much each time, up to most bytes. Where that cannot be held it returns buf.
func (x *exchange) grow(buf []byte, most int64) ([]byte, error) {
	have := int64(cap(buf))
	want := max(2*have, firstRead)
	if have == 0 {
		want = 1
	}
	want = min(want, most)
	if err := x.hold(want - have); err != nil {
		return buf, err
	}
	return append(make([]byte, 0, want), buf...), nil
}

// hold takes n bytes from what bodies may hold, or returns why it cannot:
// errShare or errNoRoom.
func (x *exchange) hold(n int64) error {
	if err := x.s.room.take(&x.principal, n); err != nil {
		return err
	}
	x.held += n
	return nil
}

// letGo gives back what hold took.
func (x *exchange) letGo() {
	if x.held > 0 {
		x.s.room.give(&x.principal, x.held)
		x.held = 0
	}
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
	p := x.watch(drainTime, math.MaxInt64)
	defer p.end(false)
	_, _ = io.CopyN(io.Discard, p, drainBytes)
	return why
}

// parse runs f, which parses a body of n bytes. Parsing can need many times the
// memory of the body, so no more large bodies are parsed at a time than there are
// processors; more would not be faster.
func (x *exchange) parse(n int, f func() error) error {
	if n > smallBody {
		select {
		case x.s.parsing <- struct{}{}:
			defer func() { <-x.s.parsing }()
		case <-x.r.Context().Done():
			return x.r.Context().Err()
		}
	}
	return f()
}

// badRequest is a 400 with one issue.
func badRequest(path, message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Path: path, Message: message}}}
}
