package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// readAhead is how much of a reply is read at once: most are smaller, and every
// request that waits for an upstream holds so much.
const readAhead = 2 << 10

var errHead = errors.New("reply has too many headers")

// keptConn is a connection of a [kept]. From take to put it belongs to one
// request.
type keptConn struct {
	net.Conn
	home  *kept
	look  func() error // nil when nothing has come and nothing ended
	in    *bufio.Reader
	timer *time.Timer // ends the wait for a head; nil before the first request
	head  int64       // bytes that a reply may still have before its body
	plain bool        // the latest reply came first, and its end is told once
	swept bool        // was idle at the last sweep; home.mu guards it
}

func newKeptConn(home *kept, conn net.Conn, look func() error) *keptConn {
	c := &keptConn{Conn: conn, home: home, look: look}
	c.in = bufio.NewReaderSize(c, readAhead)
	return c
}

// quiet reports whether the connection can carry a request: an upstream that
// closed it, or that says something unasked, is done with it.
func (c *keptConn) quiet() bool { return c.look() == nil }

// Read is for c.in. It bounds what stands before a body.
func (c *keptConn) Read(p []byte) (int, error) {
	if c.head <= 0 {
		return 0, errHead
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.head)])
	c.head -= int64(n)
	return n, err
}

// post sends a request, gives its bytes back and returns the head of the reply.
// The body of the reply gives the connection back, or closes it. When ctx ends,
// the connection is closed under whatever waits for it.
func (c *keptConn) post(ctx context.Context, message *Buffer) (*http.Response, error) {
	stop := context.AfterFunc(ctx, c.hangUp)
	resp, err := c.ask(message)
	if err != nil {
		stop()
		c.hangUp()
		return nil, err
	}
	resp.Body = &keptBody{body: resp.Body, resp: resp, conn: c, stop: stop}
	return resp, nil
}

func (c *keptConn) hangUp() { _ = c.Close() }

// ask writes a request at once and reads the head of its reply, which has its
// own time, however far off the end of a context is.
func (c *keptConn) ask(message *Buffer) (resp *http.Response, err error) {
	if c.timer == nil {
		c.timer = time.AfterFunc(headerTimeout, c.hangUp)
	} else {
		c.timer.Reset(headerTimeout)
	}
	defer func() {
		if !c.timer.Stop() {
			resp, err = nil, os.ErrDeadlineExceeded
		}
	}()
	_, err = c.Write(message.B)
	message.done()
	if err != nil {
		return nil, err
	}
	c.head = headerBytes
	chunks := c.onlyChunks()
	for first := true; ; first = false {
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return nil, err
		}
		// What comes before the reply proper is dropped; c.head bounds it.
		if !interim(resp.StatusCode) {
			c.head = math.MaxInt64
			c.plain = first && (chunks || resp.ContentLength >= 0)
			return resp, nil
		}
	}
}

// onlyChunks reports whether a head has come that has no Content-Length. Of one
// with a Transfer-Encoding too net/http tells only that. A head that has not come
// as a whole says nothing.
func (c *keptConn) onlyChunks() bool {
	_, _ = c.in.Peek(1) // whoever reads next has its error
	come, _ := c.in.Peek(c.in.Buffered())
	for line := range bytes.Lines(come) {
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return true
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(bytes.TrimSpace(name), []byte("Content-Length")) {
			return false
		}
	}
	return false
}

// interim reports whether the reply proper is still to come. A status below is
// none that HTTP knows, and its reply has a body: taken for interim, that body
// would be taken for a reply.
func interim(status int) bool {
	return status >= http.StatusContinue && status < http.StatusOK && status != http.StatusSwitchingProtocols
}

// keptBody is the body of a reply. It may be closed while it is read.
type keptBody struct {
	body  io.Reader // ends where the reply does
	resp  *http.Response
	conn  *keptConn
	stop  func() bool // forgets the context; false when that has ended
	ended atomic.Bool
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close gives up what has not been read.
func (b *keptBody) Close() error {
	b.end(false)
	return nil
}

func (b *keptBody) end(whole bool) {
	switch {
	case b.ended.Swap(true):
	case b.stop() && whole && b.sound():
		b.conn.home.put(b.conn)
	default:
		b.conn.hangUp()
	}
}

// sound reports whether the next thing to come can only be the reply to the next
// request. It is not after a reply that is no 200: a proxy that has given up on
// the upstream behind it may still pass on that one's answer. Nor is it after one
// that interim replies or trailers belong to, whose end is told twice, by an old
// server, or behind which anything has come.
func (b *keptBody) sound() bool {
	r := b.resp
	return r.StatusCode == http.StatusOK && r.ProtoAtLeast(1, 1) && !r.Close && len(r.Trailer) == 0 &&
		b.conn.plain && b.conn.in.Buffered() == 0
}
