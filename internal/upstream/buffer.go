package upstream

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	firstBytes  = 4 << 10  // of a fresh buffer
	pooledBytes = 1 << 20  // larger buffers are not pooled,
	pooledShare = 64       // nor are those of more than 1/64 of the limit
	stepBytes   = 1 << 20  // a buffer never grows by more at once
	besideState = 16 << 10 // the typical size of a request without its state
)

// Buffer holds a body. For a request append to B, then pass it to [Client.Post].
type Buffer struct {
	B    []byte
	kept bool  // must not be pooled again
	held int64 // bytes counted as in flight
	from *pool
}

// pool lends buffers and bounds the total bytes in flight.
type pool struct {
	buffers sync.Pool
	flying  atomic.Int64
	limit   int64
}

// lend returns an empty buffer.
func (p *pool) lend() *Buffer {
	if b, ok := p.buffers.Get().(*Buffer); ok {
		return b
	}
	return &Buffer{B: make([]byte, 0, firstBytes), from: p}
}

// Grow makes room for the body of a request whose state has that many bytes.
// Appending a large state would otherwise allocate twice, the second time with a
// quarter to spare, which counts as in flight.
func (b *Buffer) Grow(state int) {
	if state > besideState {
		b.B = slices.Grow(b.B, state+besideState)
	}
}

// keep makes sure that the buffer is never lent again, because an http.Transport
// may read a request body even after its RoundTrip has returned. A reader that
// detects its Close is no alternative: the transport writes head and body at once
// only for readers of the standard library.
func (b *Buffer) keep() { b.kept = true }

// hold counts the buffer's bytes as in flight. It returns false when the limit is
// exceeded.
func (b *Buffer) hold() bool {
	more := int64(cap(b.B)) - b.held
	b.held += more
	return b.from.flying.Add(more) <= b.from.limit
}

// done ends the buffer's use: its bytes no longer count as in flight. A buffer that
// is large for the limit is not pooled. Its next user would count all of it from
// the first byte, and be refused for the size of an earlier body.
func (b *Buffer) done() {
	b.from.flying.Add(-b.held)
	b.held = 0
	if !b.kept && int64(cap(b.B)) <= min(pooledBytes, b.from.limit/pooledShare) {
		b.B = b.B[:0]
		b.from.buffers.Put(b)
	}
}

// readAll appends everything from r, up to limit bytes.
func (b *Buffer) readAll(r io.Reader, limit int64) error {
	for {
		if len(b.B) == cap(b.B) {
			b.B = slices.Grow(b.B, min(max(cap(b.B), firstBytes), stepBytes))
		}
		if !b.hold() {
			return errInFlight
		}
		n, err := r.Read(b.B[len(b.B):cap(b.B)])
		b.B = b.B[:len(b.B)+n]
		if int64(len(b.B)) > limit {
			return errTooLarge
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
