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
	// firstRead is the size of the buffer once the first byte of a body has arrived.
	firstRead = 4 << 10
	// smallBody is the size of the largest body that is parsed without waiting for a
	// place, see parse.
	smallBody = 64 << 10
	// drainBytes and drainTime bound how much of a refused body is read and dropped. If
	// the connection were closed while the client still sends, the client would see a
	// reset instead of the reply.
	drainBytes = 16 << 20
	drainTime  = 5 * time.Second
)

// body returns the request's body. The buffer is never reused, because decoded texts
// point into it, and interceptors and upstream clients of the embedding program may
// keep them longer than they should.
func (x *exchange) body() ([]byte, error) {
	zipped, err := checkContent(x.r.Header)
	if err != nil {
		return nil, err
	}
	size := x.r.ContentLength
	switch {
	case zipped:
		size = -1 // the decompressed size is unknown
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
		if x.r.ProtoMajor == 1 { // otherwise net/http waits for more of the body before it replies
			x.w.Header()["Connection"] = []string{"close"}
		}
		return nil, badRequest("", "the body came too slowly: it must bring "+strconv.FormatInt(x.s.MinBodyRate, 10)+" bytes a second")
	case err != nil:
		return nil, x.unread(err, len(buf))
	}
	return withoutBOM(buf), nil
}

// read reads a body of size bytes; -1 means that the size is unknown. It holds room for
// the bytes that have arrived and at most as much again. A body of which nothing has
// arrived holds one byte, so that a caller that waits for 100 Continue is refused if no
// room is left. With an error read returns the bytes read so far.
func (x *exchange) read(from io.Reader, size int64) ([]byte, error) {
	limit, most := x.s.MaxBytes, size
	if size < 0 {
		most = mostRead(limit)
	}
	var buf []byte
	for int64(len(buf)) != size { // never true for a size of -1
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

// mostRead returns how many bytes of a body of unknown length are read: one more than
// the limit, which shows that the body is too long.
func mostRead(limit int64) int64 { return min(limit, math.MaxInt-1) + 1 }

// grow returns buf with a larger capacity: one byte, then firstRead, then twice as much
// each time, up to most bytes. If the room cannot be held, grow returns buf and an
// error.
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

// hold takes n bytes of the room for bodies. It returns errShare or errNoRoom if they
// are not free.
func (x *exchange) hold(n int64) error {
	if err := x.s.room.take(&x.principal, n); err != nil {
		return err
	}
	x.held += n
	return nil
}

// letGo gives back the bytes that hold took.
func (x *exchange) letGo() {
	if x.held > 0 {
		x.s.room.give(&x.principal, x.held)
		x.held = 0
	}
}

// refuse drops the rest of a body, of which read bytes have been read, and returns why.
// It reads on for a while, because a client that sends everything before it reads would
// otherwise miss its reply. A client that still waits for 100 Continue gets the refusal
// at once.
func (x *exchange) refuse(why error, read int) error {
	x.letGo() // the bytes read so far are no longer used
	if read == 0 && x.r.Header.Get("Expect") != "" || x.r.ContentLength > drainBytes {
		return why
	}
	p := x.watch(drainTime, math.MaxInt64)
	defer p.end(false)
	_, _ = io.CopyN(io.Discard, p, drainBytes)
	return why
}

// parse runs f, which parses a body of n bytes. Parsing can need many times the memory
// of the body. At most one large body per processor is parsed at the same time, because
// more would not be faster.
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

// badRequest returns a 400 with one issue.
func badRequest(path, message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Path: path, Message: message}}}
}
