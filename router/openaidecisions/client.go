package openaidecisions

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// Config configures a [Client]. BaseURL and, unless KeyOptional, APIKey are
// required.
type Config struct {
	// BaseURL is the address up to and including its version, e.g.
	// https://api.openai.com/v1; required. It must have neither credentials nor a
	// query. Plain http and loopback are allowed.
	BaseURL string
	// APIKey is sent as a Bearer token, to the scheme, host and port of BaseURL
	// only. Required unless KeyOptional.
	APIKey      router.Secret
	KeyOptional bool
	// HTTP provides the Transport and the Timeout; redirects are never followed and
	// cookies never stored. Nil uses a transport of the client's own: no proxy from
	// the environment, TLS 1.2 or newer, a bounded pool.
	HTTP *http.Client
	// MaxReplyBytes is the largest reply that is read; default 32 MiB.
	MaxReplyBytes int64
	// MaxInFlightBytes bounds the bodies of all attempts in flight together;
	// default 256 MiB. An attempt beyond it is not sent ([router.ErrNotSent]).
	MaxInFlightBytes int64
	// SendTrace sends the trace context of each attempt in the headers traceparent and
	// tracestate. By default the upstream cannot tell which calls belong together.
	SendTrace bool
	// Now is the clock for Retry-After dates; default time.Now.
	Now func() time.Time
}

// Client is a [router.Provider]. It is safe for concurrent use and starts no
// goroutine of its own.
type Client struct {
	http   *upstream.Client
	target upstream.Target
}

var _ router.Provider = (*Client)(nil)

// New checks cfg and returns a client. Its errors wrap [router.ErrConfig] and
// contain no secret.
func New(cfg Config) (*Client, error) {
	h, err := upstream.New(upstream.Config{
		BaseURL:          cfg.BaseURL,
		Key:              cfg.APIKey,
		KeyOptional:      cfg.KeyOptional,
		RequestIDHeader:  "X-Client-Request-Id",
		SendTrace:        cfg.SendTrace,
		HTTP:             cfg.HTTP,
		MaxReplyBytes:    cfg.MaxReplyBytes,
		MaxInFlightBytes: cfg.MaxInFlightBytes,
		Rules:            upstream.CommonRules(),
		Now:              cfg.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("openaidecisions: %w", err)
	}
	target, err := h.Target("/decisions")
	if err != nil {
		return nil, fmt.Errorf("openaidecisions: %w", err)
	}
	return &Client{http: h, target: target}, nil
}

// Address returns the host and the port of the upstream, for traces and metrics.
func (c *Client) Address() (host string, port int) { return c.http.Address() }

// Endpoint returns an endpoint of this upstream for a catalog. It serves the
// catalog's model at the provider with the slug; upstreamModel is the upstream's
// name of the model, "" for the same. Limits, tolerance and parameters are those of
// the dialect, whose answers have two decimals. The caller must set what the client
// cannot know: the price, the context length, the quantization and how the upstream
// handles data.
func (*Client) Endpoint(slug, model, upstreamModel string) router.Endpoint {
	return router.Endpoint{
		Provider:      slug,
		Model:         model,
		UpstreamModel: upstreamModel,
		Parameters:    []string{"user"},
		Limits:        router.EndpointLimits{Questions: 400, Options: 255, Levels: 10},
		Tolerance:     systemone.Tolerance{Rounding: 0.01},
	}
}

// Decide sends one request to the upstream.
func (c *Client) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	asked, sole := upstream.SplitSole(a.Request.Questions)
	if len(asked) == 0 {
		return router.Reply{Answers: sole}, nil
	}
	body := c.http.Buffer()
	body.Grow(len(a.Request.State))
	body.B = appendRequest(body.B, a, asked)
	raw, err := c.http.Post(ctx, c.target, &a, body)
	if err != nil {
		return router.Reply{}, err
	}
	defer raw.Release()
	reply, err := decode(raw.Data, asked)
	if err != nil {
		return router.Reply{}, distrust(err)
	}
	reply.ID = upstream.Name(raw.Header.Get("X-Request-Id"))
	reply.Answers = append(reply.Answers, sole...)
	return reply, nil
}
