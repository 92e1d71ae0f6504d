package main

import (
	"context"
	"io"
)

// interruptible reads what open opens, and stops when ctx ends even where the system would go on waiting: at
// a terminal, or at a pipe that nobody writes to. Its goroutine ends with the stream or with ctx; when it is
// held by the system then, it ends with the process, because nothing can call it back.
func interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.Reader {
	in := &pump{stop: ctx.Done(), chunks: make(chan chunk), back: make(chan []byte, 1)}
	go in.run(open)
	return in
}

// pump hands chunks of a stream from the goroutine that reads to the one that asks.
type pump struct {
	stop   <-chan struct{}
	chunks chan chunk
	back   chan []byte // the buffer that was used up
	rest   chunk
	buffer []byte
}

// chunk is what one read gave.
type chunk struct {
	bytes []byte
	err   error
}

// run reads until the stream or the context ends.
func (p *pump) run(open func() (io.ReadCloser, error)) {
	f, err := open()
	if err != nil {
		p.put(chunk{err: err})
		return
	}
	defer func() { _ = f.Close() }() // nothing was written
	buffer := make([]byte, sniffed)
	for {
		n, err := f.Read(buffer)
		if !p.put(chunk{bytes: buffer[:n], err: err}) || err != nil {
			return
		}
		select {
		case buffer = <-p.back:
		case <-p.stop:
			return
		}
	}
}

func (p *pump) put(c chunk) bool {
	select {
	case p.chunks <- c:
		return true
	case <-p.stop:
		return false
	}
}

// Read implements io.Reader.
func (p *pump) Read(to []byte) (int, error) {
	for len(p.rest.bytes) == 0 {
		if p.rest.err != nil {
			return 0, p.rest.err
		}
		if p.buffer != nil {
			p.back <- p.buffer
			p.buffer = nil
		}
		select {
		case p.rest = <-p.chunks:
			p.buffer = p.rest.bytes[:cap(p.rest.bytes)]
		case <-p.stop:
			return 0, context.Canceled
		}
	}
	n := copy(to, p.rest.bytes)
	p.rest.bytes = p.rest.bytes[n:]
	return n, nil
}
