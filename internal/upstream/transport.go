package upstream

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// What the transport of [NewTransport] allows, and a [kept] too.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
	keepAlive        = 30 * time.Second
	headerTimeout    = 60 * time.Second // a floor under callers without a deadline
	idleTimeout      = 90 * time.Second
	idleConns        = 256
	idleConnsPerHost = 64
	headerBytes      = 64 << 10
	pingAfter        = 15 * time.Second
	pingTimeout      = 5 * time.Second
)

// NewTransport returns the transport that clients use unless they are given
// one: no proxy from the environment, TLS 1.2 or newer, a bounded pool of idle
// connections, bounded header bytes, and no transparent decompression, so that
// a cap on bytes is a cap on memory. Each call returns a pool of its own.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    handshakeTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
		DisableCompression:     true,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    idleConnsPerHost,
		IdleConnTimeout:        idleTimeout,
		ResponseHeaderTimeout:  headerTimeout,
		MaxResponseHeaderBytes: headerBytes,
	}
}
