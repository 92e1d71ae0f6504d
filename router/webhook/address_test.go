package webhook_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/webhook"
)

// TestPublicAddresses: everything that may lead into the operator's own network is not
// public, also where an IPv6 address contains an IPv4 one.
func TestPublicAddresses(t *testing.T) {
	for _, text := range []string{"1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"} {
		assert.True(t, webhook.Public(netip.MustParseAddr(text)), text)
	}
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
		"2002:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
	} {
		assert.False(t, webhook.Public(netip.MustParseAddr(text)), text)
	}
}

// TestAHookDoesNotReachTheOwnNetwork: a name that resolves to loopback is refused when
// the connection is made, unless Private is set.
func TestAHookDoesNotReachTheOwnNetwork(t *testing.T) {
	asked := 0
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]"} {
		url := strings.Replace(server.URL, "127.0.0.1", host, 1)
		hook, err := webhook.New(webhook.Config{URL: url, Secrets: []router.Secret{newSecret}, Attempts: 1})
		require.NoError(t, err)
		require.EqualError(t, hook.Handle(t.Context(), change), "webhook: the address is not a public one", host)
	}
	assert.Zero(t, asked)
}
