//go:build unix

package upstream

import (
	"errors"
	"net"
	"syscall"
)

// canLook says whether looker works on this system.
const canLook = true

// looker returns a function that reports, without waiting, whether a connection is
// open and has received nothing. Received bytes are lost.
func looker(conn net.Conn) (func() error, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil, errConnection
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var one [1]byte
	var seen error
	read := func(fd uintptr) bool {
		_, seen = syscall.Read(int(fd), one[:])
		return true // do not wait
	}
	return func() error {
		if err := raw.Read(read); err != nil {
			return err
		}
		if errors.Is(seen, syscall.EAGAIN) || errors.Is(seen, syscall.EWOULDBLOCK) {
			return nil
		}
		return errNotQuiet
	}, nil
}
