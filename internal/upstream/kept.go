package upstream

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// keptBytes is the largest body that is sent over a [kept] connection, in bytes.
// Every socket buffer takes that much at once, so a write never waits for an
// upstream that does not read.
const keptBytes = 16 << 10

// errMultiplexed says that nothing was sent because the upstream speaks HTTP/2.
var errMultiplexed = errors.New("upstream speaks HTTP/2")

var errNotQuiet = errors.New("upstream closed the connection, or spoke unasked")

// kept is a pool of HTTP/1.1 connections to one address, for small requests. A
// request runs in the goroutine of its caller: one write, then reads that wait. An
// [http.Transport] has two goroutines for every connection. A request changes
// hands six times between them and its caller, which is most of what a small
// request costs.
//
// In HTTP/1.1 only the order of requests and replies says which belong together.
// So a connection is kept only where that order is beyond doubt: see [keptBody].
// The connection used last is used next. Nothing reads an idle connection, so
// [kept.take] checks that it is still open and silent. No request is sent twice.
type kept struct {
	address     string // host and port
	dialer      net.Dialer
	tls         *tls.Config // nil for a plain address
	multiplexed atomic.Bool // the upstream speaks HTTP/2, which is for an http.Transport

	mu       sync.Mutex
	idle     []*keptConn // the one used last is the last
	sweeping bool        // sweep will be called
}

// newKept returns the pool that posts small bodies to base, or nil where an
// http.Transport must be used.
func newKept(base *url.URL) *kept {
	host, port := base.Hostname(), base.Port()
	// A Host header spells a name beyond ASCII or with a zone differently.
	plain := !strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '%' || r > '~' })
	if !plain || !canLook {
		return nil
	}
	k := &kept{dialer: net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}}
	standard := "80"
	if base.Scheme == "https" {
		k.tls = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, NextProtos: []string{protocolHTTP2, "http/1.1"}}
		standard = "443"
	}
	k.address = net.JoinHostPort(host, cmp.Or(port, standard))
	return k
}

// take returns a connection that is ready for a request, idle or new. The caller
// must post a request on it.
func (k *kept) take(ctx context.Context) (*keptConn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for {
		c := k.pop()
		if c == nil {
			return k.dial(ctx)
		}
		if c.quiet() {
			return c, nil
		}
		_ = c.Close()
	}
}

func (k *kept) dial(ctx context.Context) (*keptConn, error) {
	conn, err := k.dialer.DialContext(ctx, "tcp", k.address)
	if err != nil {
		return nil, err
	}
	look, err := looker(conn)
	if err == nil && k.tls != nil {
		conn, look, err = k.secure(ctx, conn, look)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return newKeptConn(k, conn, look), nil
}

// secure starts TLS on a connection. The returned look also detects bytes that TLS
// has read from the connection but not yet returned.
func (k *kept) secure(ctx context.Context, conn net.Conn, look func() error) (net.Conn, func() error, error) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTimeout)
	defer cancel()
	secured := tls.Client(conn, k.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return conn, nil, err
	}
	if isHTTP2(secured) {
		k.multiplexed.Store(true)
		return secured, nil, errMultiplexed
	}
	var one [1]byte
	return secured, func() error {
		if err := look(); err != nil {
			return err
		}
		// A deadline in the past keeps TLS from reading the connection itself.
		if err := secured.SetReadDeadline(time.Unix(1, 0)); err != nil {
			return err
		}
		if _, err := secured.Read(one[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
			return errNotQuiet
		}
		return secured.SetReadDeadline(time.Time{})
	}, nil
}

func (k *kept) pop() *keptConn {
	k.mu.Lock()
	defer k.mu.Unlock()
	last := len(k.idle) - 1
	if last < 0 {
		return nil
	}
	c := k.idle[last]
	k.idle[last], k.idle = nil, k.idle[:last]
	return c
}

// put keeps a connection for the next request, or closes it if idleConnsPerHost
// connections are idle already.
func (k *kept) put(c *keptConn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.idle) >= idleConnsPerHost {
		_ = c.Close()
		return
	}
	c.swept = false
	k.idle = append(k.idle, c)
	if !k.sweeping {
		k.sweeping = true
		time.AfterFunc(idleTimeout/2, k.sweep)
	}
}

// sweep closes the connections that were not used since the last sweep. So no
// connection is idle for longer than two intervals, and requests need no timer for
// it.
func (k *kept) sweep() {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := k.idle[:0]
	for _, c := range k.idle {
		if c.swept {
			_ = c.Close()
			continue
		}
		c.swept = true
		left = append(left, c)
	}
	clear(k.idle[len(left):])
	k.idle, k.sweeping = left, len(left) > 0
	if k.sweeping {
		time.AfterFunc(idleTimeout/2, k.sweep)
	}
}
