//go:build !unix

package upstream

import "net"

// canLook says that looker works here.
const canLook = false

func looker(net.Conn) (func() error, error) { return nil, errConnection }
