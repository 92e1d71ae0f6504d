package upstream

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	firstBytes  = 4 << 10 // of a fresh buffer
	pooledBytes = 1 << 20 // larger buffers are left to the garbage collector
	stepBytes   = 1 << 20 // a buffer never grows by more at once
)

// Buffer is a body that a [Client] lends: append to B, then hand it to
// [Client.Post].
type Buffer struct {
	B    []byte
	refs atomic.Int32
	held int64 // bytes counted as in flight
	from *pool
}

// pool lends buffers and bounds the bytes that are in flight together.
type pool struct {
	buffers sync.Pool
	flying  atomic.Int64
	limit   int64
}

func (p *pool) get() *Buffer {
	b, ok := p.buffers.Get().(*Buffer)
	if !ok {
		b = &Buffer{B: make([]byte, 0, firstBytes), from: p}
	}
	b.refs.Store(1)
	return b
}

// hold counts the buffer's bytes as in flight; false when that is too many.
// Only the owner calls it, and done.
func (b *Buffer) hold() bool {
	more := int64(cap(b.B)) - b.held
	b.held += more
	return b.from.flying.Add(more) <= b.from.limit
}

// done ends the owner's use: the bytes count no more, also where a transport
// never closes the body that it was given.
func (b *Buffer) done() {
	b.from.flying.Add(-b.held)
	b.held = 0
	b.release()
}

// release lends the buffer again when nobody uses it any more.
func (b *Buffer) release() {
	if b.refs.Add(-1) == 0 && cap(b.B) <= pooledBytes {
		b.B = b.B[:0]
		b.from.buffers.Put(b)
	}
}

// readAll appends everything r gives, up to limit bytes.
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

// open returns a body that reads the buffer and keeps it until it is closed.
func (b *Buffer) open() io.ReadCloser {
	b.refs.Add(1)
	return &body{buf: b}
}

// body reads a buffer that goes back to its pool afterwards. The transport may
// close it while it reads, and after its RoundTrip has returned; hence the
// lock: a buffer must not be lent again while somebody reads it.
type body struct {
	mu  sync.Mutex
	buf *Buffer // nil once closed
	off int
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf == nil {
		return 0, io.ErrClosedPipe
	}
	if b.off == len(b.buf.B) {
		return 0, io.EOF
	}
	n := copy(p, b.buf.B[b.off:])
	b.off += n
	return n, nil
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.buf != nil {
		b.buf.release()
		b.buf = nil
	}
	return nil
}
