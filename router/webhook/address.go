package webhook

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
)

const dialTimeout = 5 * time.Second

var errPrivate = errors.New("the address is not a public one")

// parseAddress checks an address. Its errors never quote it, because a path or a query
// may contain a token.
func parseAddress(text string, private bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return nil, errors.New("URL is required")
	case err != nil:
		return nil, errors.New("URL cannot be parsed")
	case u.Scheme != "https" && (u.Scheme != "http" || !private):
		return nil, errors.New("URL must begin with https://, or with http:// where Private is set")
	case u.User != nil:
		return nil, errors.New("URL must not hold credentials")
	case u.Hostname() == "":
		return nil, errors.New("URL names no host")
	case u.Fragment != "":
		return nil, errors.New("URL must not have a fragment")
	}
	return u, nil
}

// newTransport returns a transport that uses no proxy. Unless private is set, it connects
// to public addresses only. The check is made on the resolved address at each connection,
// so a name that resolves to another address later is caught too.
func newTransport(private bool) *http.Transport {
	transport := upstream.NewTransport()
	if !private {
		dialer := &net.Dialer{Timeout: dialTimeout, ControlContext: onlyPublic}
		transport.DialContext = dialer.DialContext
	}
	return transport
}

// onlyPublic refuses a connection to an address that is not public.
func onlyPublic(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr()) {
		return errPrivate
	}
	return nil
}

// special are the networks, beyond those that netip knows, which are not public: RFC 6890
// and the registries of special-purpose addresses. Networks that embed IPv4 addresses are
// among them, because they may lead to a private one.
//
//nolint:gochecknoglobals // a lookup table that is never written
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is one of the public internet.
func public(at netip.Addr) bool {
	at = at.Unmap().WithZone("")
	return at.IsGlobalUnicast() && !at.IsPrivate() &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(at) })
}
