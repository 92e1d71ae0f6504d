package webhook

import "net/netip"

// Public reports whether a hook may connect to an address.
func Public(at netip.Addr) bool { return public(at) }
