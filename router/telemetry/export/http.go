package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
)

// HTTPConfig configures an [HTTP]. Only URL is required.
type HTTPConfig struct {
	// URL is the address, with http or https; required. It may have a query with a
	// secret, but no credentials.
	URL string
	// Headers are sent with every request, such as a key. Errors and logs contain none
	// of them.
	Headers map[string]router.Secret
	Service string // the value of service.name; default signalbox
	// HTTP provides the Transport; redirects are never followed. Nil uses a transport
	// of its own: no proxy from the environment, TLS 1.2 or newer.
	HTTP *http.Client
	Now  func() time.Time // for Retry-After dates; default time.Now
}

// HTTP is a [Destination] that posts OTLP as JSON. It is safe for concurrent use.
type HTTP struct {
	encoder encoder
	url     string
	header  http.Header
	client  *http.Client
	now     func() time.Time
}

// NewWebhook returns a destination that posts to URL itself. Its errors wrap
// [ErrConfig] and contain neither the address nor a header.
func NewWebhook(cfg HTTPConfig) (*HTTP, error) {
	to, err := address(cfg.URL)
	if err != nil {
		return nil, err
	}
	return newHTTP(cfg, to)
}

// NewCollector returns a destination that posts to an OpenTelemetry collector: URL is
// its base, to which /v1/traces is appended. Errors are as of [NewWebhook].
func NewCollector(cfg HTTPConfig) (*HTTP, error) {
	to, err := address(cfg.URL)
	if err != nil {
		return nil, err
	}
	return newHTTP(cfg, to.JoinPath("v1", "traces"))
}

func newHTTP(cfg HTTPConfig, to *url.URL) (*HTTP, error) {
	h := &HTTP{encoder: newEncoder(cfg.Service), url: to.String(), now: cfg.Now, header: http.Header{}}
	for name, value := range cfg.Headers {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
			return nil, fmt.Errorf("%w: Headers: a name cannot be sent", ErrConfig)
		}
		if strings.ContainsFunc(string(value), func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, fmt.Errorf("%w: Headers: the value of %s cannot be sent", ErrConfig, name)
		}
		h.header.Set(name, string(value))
	}
	h.header.Set("Content-Type", "application/json")
	h.header.Set("User-Agent", "signalbox")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if cfg.HTTP != nil {
		client.Transport, client.Timeout = cfg.HTTP.Transport, cfg.HTTP.Timeout
	}
	if client.Transport == nil {
		client.Transport = upstream.NewTransport()
	}
	h.client = &client
	if h.now == nil {
		h.now = time.Now
	}
	return h, nil
}

// address parses the URL of a destination.
func address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: URL cannot be parsed", ErrConfig)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%w: URL must begin with https:// or http:// and a host", ErrConfig)
	case u.User != nil:
		return nil, fmt.Errorf("%w: URL has credentials; use Headers", ErrConfig)
	case u.Fragment != "":
		return nil, fmt.Errorf("%w: URL has a fragment", ErrConfig)
	}
	return u, nil
}

// Export posts the spans once.
func (h *HTTP) Export(ctx context.Context, spans []telemetry.Span) error {
	return h.post(ctx, h.encoder.append(nil, spans), false)
}

// Test posts a request without spans, with the header X-Test-Connection: true. It
// returns nil if the destination took it.
func (h *HTTP) Test(ctx context.Context) error {
	return h.post(ctx, []byte(`{"resourceSpans":[]}`), true)
}

const maxReply = 64 << 10 // bytes of a reply that are read

var errConnection = errors.New("connection failed")

func (h *HTTP) post(ctx context.Context, body []byte, test bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return &Error{Final: true, Err: errConnection}
	}
	r.Header = h.header
	if test {
		r.Header = h.header.Clone()
		r.Header.Set("X-Test-Connection", "true")
	}
	resp, err := h.client.Do(r)
	if err != nil { // its text has the address
		if ctx.Err() != nil {
			return &Error{Err: ctx.Err()}
		}
		return &Error{Err: errConnection}
	}
	defer resp.Body.Close()                                     //nolint:errcheck // nothing is left to learn from it
	reply, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply)) // a reply that is cut off says nothing
	if resp.StatusCode < http.StatusMultipleChoices {
		return partial(reply)
	}
	return &Error{
		Final:      !temporary(resp.StatusCode),
		RetryAfter: upstream.RetryAfter(resp.Header, h.now()),
		Err:        errors.New("status " + strconv.Itoa(resp.StatusCode)),
	}
}

// temporary reports whether a retry may succeed.
func temporary(status int) bool {
	return status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// partial returns an error if a collector says that it rejected some of the spans. A
// body that is not OTLP says nothing.
func partial(reply []byte) error {
	var said struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
		} `json:"partialSuccess"`
	}
	_ = json.Unmarshal(reply, &said)
	if n, _ := strconv.Atoi(said.PartialSuccess.RejectedSpans.String()); n > 0 {
		return &Error{Final: true, Rejected: n, Err: errors.New("some spans were rejected")}
	}
	return nil
}
