package upstream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// Defaults of [Config].
const (
	// The largest request that a route takes by default, 1,000 choices of 255
	// options, has a reply of some 15 MiB in full precision.
	DefaultMaxReplyBytes    = 32 << 20
	DefaultMaxInFlightBytes = 256 << 20
)

// How much of an error body is read to find its class, and for how long.
const (
	errorBytes = 16 << 10
	errorTime  = time.Second
)

// Config configures a [Client]. BaseURL and, unless KeyOptional, Key are required.
type Config struct {
	BaseURL string // required; up to and including its version
	// Auth says how Key is sent; "" is AuthBearer. KeyHeader is for AuthHeader.
	Auth        Auth
	KeyHeader   string
	Key         router.Secret
	KeyOptional bool // Key may be empty; then no credential is sent
	// RequestIDHeader is the header for the request id; "" sends none.
	RequestIDHeader string
	SendTrace       bool // send the attempt's trace context, as W3C Trace Context
	// HTTP provides the Transport and the Timeout; redirects are never followed and
	// cookies never stored, whatever it says. Nil or a nil Transport is
	// NewTransport(); small HTTP/1.1 requests then use a smaller client with the
	// same limits, which reuses connections. Every HTTP/1 connection of a Transport
	// carries one request; those of HTTP/2 are shared.
	HTTP             *http.Client
	MaxReplyBytes    int64 // default DefaultMaxReplyBytes
	MaxInFlightBytes int64 // request and reply bodies together; default DefaultMaxInFlightBytes
	Rules            []Rule
	// RetryBody finds in an error body, any text, for how long the upstream asks not
	// to be called. It is used where no header says so; nil finds nothing.
	RetryBody func(body []byte) time.Duration
	Now       func() time.Time // default time.Now; for Retry-After dates
}

// Client posts bodies to one upstream. It is safe for concurrent use, starts no
// goroutine and never retries.
type Client struct {
	base      *url.URL
	header    http.Header // shared by all requests, never changed
	fields    string      // the fields of header without the credential, as sent
	shown     string      // the credential's field, as sent; may be empty
	auth      Auth
	keyHeader string
	requestID string
	sendTrace bool
	transport http.RoundTripper
	shared    bool  // transport uses only HTTP/2 without TLS
	kept      *kept // for small bodies in place of transport; may be nil
	timeout   time.Duration
	maxReply  int64
	rules     []Rule
	retryBody func([]byte) time.Duration
	now       func() time.Time
	pool      pool
}

// Target is an address below a client's base URL.
type Target struct {
	url  *url.URL
	head string // the first line and the Host of a request
}

// New checks cfg and returns a client. Its errors wrap [router.ErrConfig] and
// contain neither the address nor the key.
func New(cfg Config) (*Client, error) {
	base, err := parseBase(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	if cfg.Auth == "" {
		cfg.Auth = AuthBearer
	}
	name, value, err := credential(cfg.Auth, cfg.KeyHeader, cfg.Key, cfg.KeyOptional)
	if err != nil {
		return nil, err
	}
	if cfg.MaxReplyBytes < 0 || cfg.MaxInFlightBytes < 0 {
		return nil, configError("a limit is negative")
	}
	if cfg.RequestIDHeader != "" && !plainHeader(cfg.RequestIDHeader) {
		return nil, configError("header of the request id cannot carry it")
	}
	c := &Client{
		base:      base,
		header:    http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "User-Agent": {"signalbox"}},
		auth:      cfg.Auth,
		keyHeader: cfg.KeyHeader,
		requestID: http.CanonicalHeaderKey(cfg.RequestIDHeader),
		sendTrace: cfg.SendTrace,
		maxReply:  cfg.MaxReplyBytes,
		rules:     cfg.Rules,
		retryBody: cfg.RetryBody,
		now:       cfg.Now,
	}
	for _, name := range slices.Sorted(maps.Keys(c.header)) {
		c.fields += field(name, c.header.Get(name))
	}
	if name != "" {
		c.header.Set(name, value)
		c.shown = field(name, value)
	}
	if cfg.HTTP != nil && typednil.Is(cfg.HTTP.Transport) {
		return nil, configError("the transport of HTTP holds a nil")
	}
	if cfg.HTTP != nil {
		c.transport, c.timeout = cfg.HTTP.Transport, cfg.HTTP.Timeout
	}
	if c.transport == nil {
		c.transport, c.kept = NewTransport(), newKept(base)
	}
	c.shared = sharesPlain(c.transport, base)
	if c.maxReply == 0 {
		c.maxReply = DefaultMaxReplyBytes
	}
	c.pool.limit = cfg.MaxInFlightBytes
	if c.pool.limit == 0 {
		c.pool.limit = DefaultMaxInFlightBytes
	}
	if c.now == nil {
		c.now = time.Now
	}
	return c, nil
}

// Address returns the host and the port of the upstream, without the path.
func (c *Client) Address() (host string, port int) {
	port, err := strconv.Atoi(c.base.Port())
	if err != nil { // none is named
		port = 443
		if c.base.Scheme == "http" {
			port = 80
		}
	}
	return c.base.Hostname(), port
}

// Target returns the address of path, which must begin with a slash.
func (c *Client) Target(path string) (Target, error) {
	if !strings.HasPrefix(path, "/") || !plainPath(path) {
		return Target{}, configError("path of the upstream is unusual")
	}
	u := *c.base
	u.Path += path
	return Target{url: &u, head: "POST " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n"}, nil
}

// Buffer returns an empty buffer for a request body.
func (c *Client) Buffer() *Buffer { return c.pool.lend() }

// Reply is the body of a 200. Its bytes are lent: nothing may use them after
// Release.
type Reply struct {
	Header http.Header
	Data   []byte
	buf    *Buffer
}

// Release gives the reply's bytes back.
func (r Reply) Release() { r.buf.done() }

// Post sends body, which it takes over, and returns the body of a 200. It sends the
// attempt's credential and request id. Every other outcome is an
// [*router.UpstreamError]. With too many bytes in flight nothing is sent and the
// error wraps [router.ErrNotSent]. A caller's credential or a request id that
// cannot be sent is a local failure, and nothing is sent; the operator's credential
// is never used instead.
func (c *Client) Post(ctx context.Context, to Target, a *router.Attempt, body *Buffer) (Reply, error) {
	own, err := c.own(a)
	if err != nil {
		body.done()
		return Reply{}, &router.UpstreamError{Class: router.ProviderUnavailable, Local: true, Err: err}
	}
	if !body.hold() {
		body.done()
		return Reply{}, &router.UpstreamError{Class: router.NoCapacity, Err: fmt.Errorf("%w: %w", router.ErrNotSent, errInFlight)}
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	resp, err := c.send(ctx, to, own, body)
	if err != nil {
		return Reply{}, failure(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is left to learn from it
	if resp.StatusCode != http.StatusOK {
		return Reply{}, c.refusal(resp)
	}
	return c.reply(ctx, resp)
}

// send posts body, over a kept connection if it is small. It releases the body as
// soon as it is written, so a call that waits for a slow upstream holds no copy.
func (c *Client) send(ctx context.Context, to Target, own own, body *Buffer) (*http.Response, error) {
	if c.kept != nil && len(body.B) <= keptBytes && !c.kept.multiplexed.Load() {
		conn, err := c.kept.take(ctx)
		if err == nil {
			message := c.message(to, own, body)
			body.done()
			return conn.post(ctx, message)
		}
		if !errors.Is(err, errMultiplexed) {
			body.done()
			return nil, err
		}
	}
	defer body.done()
	body.keep()
	return c.postAlone(ctx, to, c.headerOf(own), body.B)
}

// The headers of W3C Trace Context.
const (
	traceParent = "Traceparent"
	traceState  = "Tracestate"
)

func (c *Client) reply(ctx context.Context, resp *http.Response) (Reply, error) {
	if resp.ContentLength > c.maxReply {
		return Reply{}, BadReply(errTooLarge)
	}
	if encoding := resp.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return Reply{}, BadReply(errEncoded)
	}
	buf := c.pool.lend()
	err := buf.readAll(resp.Body, c.maxReply)
	if err == nil {
		return Reply{Header: resp.Header, Data: buf.B, buf: buf}, nil
	}
	buf.done()
	switch {
	case errors.Is(err, errTooLarge):
		return Reply{}, BadReply(errTooLarge)
	case errors.Is(err, errInFlight):
		return Reply{}, &router.UpstreamError{Class: router.NoCapacity, Local: true, Err: errInFlight}
	case ctx.Err() != nil, timedOut(err):
		return Reply{}, failure(ctx, err)
	default:
		return Reply{}, BadReply(errCut)
	}
}

// refusal returns the failure for a reply that is not a 200.
func (c *Client) refusal(resp *http.Response) *router.UpstreamError {
	out := &router.UpstreamError{Status: resp.StatusCode, Class: Class(resp.StatusCode), Err: errStatus}
	if resp.StatusCode < http.StatusBadRequest {
		out.Err = errNotOK
		out.BadReply = resp.StatusCode < http.StatusMultipleChoices
		return out
	}
	out.RetryAfter = RetryAfter(resp.Header, c.now())
	buf := c.pool.lend()
	defer buf.done()
	// Reading ends after errorTime, because the next candidate waits for it. The
	// body may be that of the embedding program's transport, so its Close may
	// panic.
	defer time.AfterFunc(errorTime, func() { _ = panics.Catch(resp.Body.Close) }).Stop()
	// If the body cannot be read, the class of the status is enough.
	if buf.readAll(resp.Body, errorBytes) == nil {
		if class, ok := Match(c.rules, resp.StatusCode, buf.B); ok {
			out.Class = class
		}
		if out.RetryAfter == 0 && c.retryBody != nil {
			out.RetryAfter = c.retryBody(buf.B)
		}
	}
	return out
}
