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
	"strconv"
	"sync/atomic"
	"time"
)

var errHead = errors.New("reply has too many headers")

// keptConn is a connection of a [kept]. From take to put it belongs to one
// request.
type keptConn struct {
	net.Conn
	home  *kept
	look  func() error // nil when nothing has come and nothing ended
	in    *bufio.Reader
	out   bytes.Buffer
	head  int64 // bytes that a reply may still have before its body
	swept bool  // was idle at the last sweep; home.mu guards it
}

func newKeptConn(home *kept, conn net.Conn) (*keptConn, error) {
	look, err := looker(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	c := &keptConn{Conn: conn, home: home, look: look}
	c.in = bufio.NewReader(c)
	return c, nil
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

// post sends a request and returns the head of its reply. The body of the reply
// gives the connection back when it was read to its end, and closes it
// otherwise. When ctx ends, the connection is closed under whatever waits for it.
func (c *keptConn) post(ctx context.Context, to Target, header http.Header, body []byte) (*http.Response, error) {
	stop := context.AfterFunc(ctx, c.hangUp)
	resp, err := c.ask(to, header, body)
	if err != nil {
		stop()
		c.hangUp()
		return nil, err
	}
	resp.Body = &keptBody{
		body: resp.Body, conn: c, stop: stop,
		again: !resp.Close && resp.StatusCode >= http.StatusOK,
	}
	return resp, nil
}

func (c *keptConn) hangUp() { _ = c.Close() }

// ask writes a request at once and reads the head of its reply, which has its
// own time, however far off the end of a context is.
func (c *keptConn) ask(to Target, header http.Header, body []byte) (resp *http.Response, err error) {
	timer := time.AfterFunc(headerTimeout, c.hangUp)
	defer func() {
		if !timer.Stop() {
			resp, err = nil, os.ErrDeadlineExceeded
		}
	}()
	if err := c.write(to, header, body); err != nil {
		return nil, err
	}
	c.head = headerBytes
	for {
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return nil, err
		}
		// What comes before the reply proper is dropped; c.head bounds it.
		if !interim(resp.StatusCode) {
			c.head = math.MaxInt64
			return resp, nil
		}
	}
}

// interim reports whether the reply proper is still to come. A status below is
// none that HTTP knows, and its reply has a body: taken for interim, that body
// would be taken for a reply.
func interim(status int) bool {
	return status >= http.StatusContinue && status < http.StatusOK && status != http.StatusSwitchingProtocols
}

func (c *keptConn) write(to Target, header http.Header, body []byte) error {
	c.out.Reset()
	c.out.WriteString(to.head)
	c.out.WriteString("Content-Length: ")
	c.out.Write(strconv.AppendInt(c.out.AvailableBuffer(), int64(len(body)), 10))
	c.out.WriteString("\r\n")
	if err := header.Write(&c.out); err != nil {
		return err
	}
	c.out.WriteString("\r\n")
	c.out.Write(body)
	_, err := c.Write(c.out.Bytes())
	return err
}

// keptBody is the body of a reply. It may be closed while it is read.
type keptBody struct {
	body  io.Reader // ends where the reply does
	conn  *keptConn
	stop  func() bool // forgets the context; false when that has ended
	again bool        // the connection can be used again
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
	case b.stop() && whole && b.again && b.conn.in.Buffered() == 0:
		b.conn.home.put(b.conn)
	default:
		b.conn.hangUp()
	}
}
