package upstream

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// Limits of the transport of [NewTransport] and of a [kept].
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 5 * time.Second
	keepAlive        = 30 * time.Second
	headerTimeout    = 60 * time.Second // for callers without a deadline
	idleTimeout      = 90 * time.Second
	idleConns        = 256
	idleConnsPerHost = 64
	headerBytes      = 64 << 10
	pingAfter        = 15 * time.Second
	pingTimeout      = 5 * time.Second
)

// NewTransport returns the default transport of clients: no proxy from the
// environment, TLS 1.2 or newer, a bounded pool of idle connections, and bounded
// header bytes. It does not decompress, so that a limit on bytes is a limit on
// memory. Each call returns a new pool.
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
