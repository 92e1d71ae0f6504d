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

// keptBytes is the largest request that kept sends: what every socket takes at
// once, so that writing never waits for an upstream that reads nothing, or that
// refuses before it has read.
const keptBytes = 16 << 10

// errMultiplexed says that nothing was sent because the upstream speaks HTTP/2.
var errMultiplexed = errors.New("upstream speaks HTTP/2")

var errNotQuiet = errors.New("upstream closed the connection, or spoke unasked")

// kept posts small bodies to one address by HTTP/1.1. It asks in the goroutine of the
// caller: a write, then a read that waits. An [http.Transport] has two
// goroutines for every connection, and between them and the caller a request
// changes hands six times, which is most of what a small one costs.
//
// Nothing in HTTP/1.1 says which request a reply belongs to but the order of
// both, so a connection is kept only where that order is beyond doubt: see
// [keptBody]. Connections are used last in, first out. One that is idle
// has no reader, so before it is used again it is asked whether anything has
// come, its end most of all. Nothing is ever sent twice.
type kept struct {
	address     string // host and port
	dialer      net.Dialer
	tls         *tls.Config // nil for a plain address
	multiplexed atomic.Bool // the upstream speaks HTTP/2, which is for an http.Transport

	mu       sync.Mutex
	idle     []*keptConn // the one used last is the last
	sweeping bool        // sweep will be called
}

// newKept returns what posts small bodies to base, or nil where that is for an
// http.Transport.
func newKept(base *url.URL) *kept {
	host, port := base.Hostname(), base.Port()
	// A name beyond ASCII and a zone are written otherwise in a Host header.
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

// take returns a connection that is ready for a request. The caller must post one.
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

// secure begins TLS on a connection. What is there to see then is also what TLS
// has read and not handed out.
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
		// A time that is over keeps TLS from reading the connection itself.
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

// put keeps a connection for the next request, or closes it where there are
// enough.
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

// sweep closes what was not used since the last sweep. So nothing is idle for
// longer than the time between three sweeps, and no request has to set a timer.
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
