//go:build !unix

package upstream

import "net"

// canLook says whether looker works on this system.
const canLook = false

func looker(net.Conn) (func() error, error) { return nil, errConnection }
