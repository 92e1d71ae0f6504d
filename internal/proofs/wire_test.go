package proofs

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
)

// breaks says how a wire breaks.
type breaks string

const (
	unsent     breaks = "a message is not sent"
	unanswered breaks = "a message is received and its answer is lost"
	gone       breaks = "from a message on the database is away"
	away       breaks = "from a message on the database is away for a while"
)

// while is how many messages fail if the wire is away.
const while = 4

var errWire = errors.New("the wire is broken")

// wire is the connection of programs to a database. It breaks at the n-th message.
type wire struct {
	mu      sync.Mutex
	how     breaks
	n, seen int // with n 0 the wire is whole
}

// begin makes the n-th message from now on break the wire.
func (w *wire) begin(how breaks, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how, w.n, w.seen = how, n, 0
}

// end repairs the wire, and reports whether it broke.
func (w *wire) end() (broke bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	broke = w.seen >= w.n
	w.n = 0
	return broke
}

// message returns how the next message breaks the wire, or "".
func (w *wire) message() breaks {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n == 0 {
		return ""
	}
	w.seen++
	if w.seen == w.n || w.seen > w.n && w.how == gone || w.seen > w.n && w.how == away && w.seen < w.n+while {
		return w.how
	}
	return ""
}

// dial opens a connection.
func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &end{Conn: conn, wire: w}, nil
}

// end is a program's end of a connection.
type end struct {
	net.Conn

	wire *wire
	deaf atomic.Bool // the next reply is lost
}

// Write implements [net.Conn].
func (e *end) Write(p []byte) (int, error) {
	switch e.wire.message() {
	case unsent, gone, away:
		return 0, errors.Join(errWire, e.Close())
	case unanswered:
		e.deaf.Store(true)
	}
	return e.Conn.Write(p)
}

// Read implements [net.Conn].
func (e *end) Read(p []byte) (int, error) {
	n, err := e.Conn.Read(p)
	if e.deaf.Load() { // now the database has executed the message
		return 0, errors.Join(errWire, e.Close())
	}
	return n, err
}
