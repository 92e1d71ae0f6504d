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

// readAhead is the size of a connection's read buffer, in bytes. Every request that
// waits for its reply holds one, and most replies fit.
const readAhead = 2 << 10

var errHead = errors.New("reply has too many headers")

// keptConn is a connection of a [kept]. Between [kept.take] and [kept.put] it belongs
// to one request.
type keptConn struct {
	net.Conn
	home  *kept
	look  func() error // returns nil if the connection is open and silent
	in    *bufio.Reader
	timer *time.Timer // ends the wait for a head; nil before the first request
	head  int64       // how many more bytes a reply may have before its body
	plain bool        // the last reply had no interim reply, and states its end once
	swept bool        // was idle at the last sweep; guarded by home.mu
}

func newKeptConn(home *kept, conn net.Conn, look func() error) *keptConn {
	c := &keptConn{Conn: conn, home: home, look: look}
	c.in = bufio.NewReaderSize(c, readAhead)
	return c
}

// quiet reports whether the connection can carry a request. It cannot if the
// upstream has closed it or has sent something unasked.
func (c *keptConn) quiet() bool { return c.look() == nil }

// Read is called by c.in. It limits the bytes before a body to c.head.
func (c *keptConn) Read(p []byte) (int, error) {
	if c.head <= 0 {
		return 0, errHead
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.head)])
	c.head -= int64(n)
	return n, err
}

// post sends a request, releases its bytes and returns the head of the reply. The
// body of the reply returns the connection to the pool or closes it. When ctx ends,
// the connection is closed, which ends any read or write on it.
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

// ask writes a request at once and reads the head of its reply. The head has a time
// limit of its own, beside that of the context.
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
		// Interim replies are dropped; c.head limits their size.
		if !interim(resp.StatusCode) {
			c.head = math.MaxInt64
			c.plain = first && (chunks || resp.ContentLength >= 0)
			return resp, nil
		}
	}
}

// onlyChunks reports whether a head has arrived that has no Content-Length. Where a
// head has a Transfer-Encoding as well, net/http drops the Content-Length. For a head
// that has arrived only in part it returns false.
func (c *keptConn) onlyChunks() bool {
	_, _ = c.in.Peek(1) // the next read returns its error
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

// interim reports whether the final reply is still to come. A status below 100 is not
// interim: HTTP does not define it, so its reply has a body, which would be read as
// the next reply.
func interim(status int) bool {
	return status >= http.StatusContinue && status < http.StatusOK && status != http.StatusSwitchingProtocols
}

// keptBody is the body of a reply. Close may be called while Read runs.
type keptBody struct {
	body  io.Reader // ends where the reply does
	resp  *http.Response
	conn  *keptConn
	stop  func() bool // stops watching the context; false if the context has ended
	ended atomic.Bool
}

func (b *keptBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err != nil {
		b.end(err == io.EOF)
	}
	return n, err
}

// Close closes the connection, unless the body was read to its end.
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

// sound reports whether the next reply on the connection can only be that to the
// next request. That is not certain
//
//   - after a reply other than 200, because a proxy that has given up on the
//     upstream behind it may still forward that upstream's answer;
//   - after a reply with interim replies, with trailers, or with both a length and
//     chunks;
//   - after a reply of HTTP/1.0;
//   - where anything has arrived after the reply.
func (b *keptBody) sound() bool {
	r := b.resp
	return r.StatusCode == http.StatusOK && r.ProtoAtLeast(1, 1) && !r.Close && len(r.Trailer) == 0 &&
		b.conn.plain && b.conn.in.Buffered() == 0
}
