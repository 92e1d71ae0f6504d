package upstream

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
)

// protocolHTTP2 is the name of HTTP/2 in TLS.
const protocolHTTP2 = "h2"

// sharesPlain reports whether a transport speaks HTTP/2 to a plain address.
func sharesPlain(rt http.RoundTripper, base *url.URL) bool {
	t, ok := rt.(*http.Transport)
	return ok && base.Scheme == "http" && t.Protocols != nil && t.Protocols.UnencryptedHTTP2() && !t.Protocols.HTTP1()
}

// postAlone sends a request by the transport, on an HTTP/1 connection that carries
// no other request. An http.Transport reuses a connection after a reply of any
// status, and takes bytes that arrive unasked for the next reply. The streams of
// HTTP/2 are numbered, so its connections are shared.
//
// A reused connection is closed before the request is written, so that the
// transport opens another one. A reply that still arrives over it is dropped.
func (c *Client) postAlone(ctx context.Context, to Target, header http.Header, body []byte) (*http.Response, error) {
	if c.shared {
		return c.transport.RoundTrip(request(ctx, to, header, body))
	}
	for {
		l := &line{}
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: l.got})
		resp, err := c.transport.RoundTrip(request(traced, to, header, body))
		conn, used := l.last()
		if used && err == nil {
			_ = resp.Body.Close()
			err = errConnection
		}
		if used && ctx.Err() == nil {
			continue
		}
		if err == nil && conn != nil {
			resp.Body = &loneBody{resp.Body, conn}
		}
		return resp, err
	}
}

// line is the connection that a request is written to. It is safe for concurrent
// use: a transport may have goroutines.
type line struct {
	mu   sync.Mutex
	conn net.Conn // nil where it is HTTP/2
	used bool     // has carried another request, and is closed
}

func (l *line) got(info httptrace.GotConnInfo) {
	if isHTTP2(info.Conn) {
		return
	}
	if info.Reused {
		_ = info.Conn.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.used = info.Conn, info.Reused
}

func (l *line) last() (conn net.Conn, used bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn, l.used
}

func isHTTP2(conn net.Conn) bool {
	secured, ok := conn.(*tls.Conn)
	return ok && secured.ConnectionState().NegotiatedProtocol == protocolHTTP2
}

// loneBody ends its connection when it is closed.
type loneBody struct {
	io.ReadCloser
	conn net.Conn
}

func (b *loneBody) Close() error {
	err := b.ReadCloser.Close()
	_ = b.conn.Close()
	return err
}
