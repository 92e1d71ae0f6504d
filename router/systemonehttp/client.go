package systemonehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
)

// Config configures a [Client]. BaseURL and, unless the profile says otherwise,
// APIKey are required.
type Config struct {
	// BaseURL is the address up to and including its version and any account name,
	// e.g. https://api.typesafe.ai/v1; required. It must have neither credentials
	// nor a query. Plain http and loopback are allowed.
	BaseURL string
	// APIKey is sent to the scheme, host and port of BaseURL only. Required unless
	// the profile says otherwise.
	APIKey router.Secret
	// Profile describes how the upstream differs from others. The zero value is
	// [Canonical] with a required key.
	Profile Profile
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
	http    *upstream.Client
	profile Profile
	target  upstream.Target // the address, where the path has no model
	inPath  bool            // the path contains the model
	input   []string        // names of the counts, in order of preference
	output  []string
}

var _ router.Provider = (*Client)(nil)

const modelInPath = "{model}"

// New checks cfg and returns a client. Its errors wrap [router.ErrConfig] and
// contain no secret.
func New(cfg Config) (*Client, error) {
	p := cfg.Profile
	if reflect.ValueOf(p).IsZero() {
		p = Canonical()
		p.KeyOptional = false
	}
	if p.Path == "" {
		p.Path = "/systemone"
	}
	h, err := upstream.New(upstream.Config{
		BaseURL:          cfg.BaseURL,
		Auth:             upstream.Auth(p.Auth),
		KeyHeader:        p.KeyHeader,
		Key:              cfg.APIKey,
		KeyOptional:      p.KeyOptional,
		RequestIDHeader:  p.RequestID,
		SendTrace:        cfg.SendTrace,
		HTTP:             cfg.HTTP,
		MaxReplyBytes:    cfg.MaxReplyBytes,
		MaxInFlightBytes: cfg.MaxInFlightBytes,
		Rules:            p.rules(),
		Now:              cfg.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("systemonehttp: %w", err)
	}
	for _, name := range p.Options {
		if slices.Contains(ownMembers(), name) || name == p.User {
			return nil, fmt.Errorf("systemonehttp: %w: option %s would overwrite the request", router.ErrConfig, name)
		}
	}
	c := &Client{
		http: h, profile: p, inPath: strings.Contains(p.Path, modelInPath),
		input: append([]string{"input_tokens"}, p.InputTokens...), output: append([]string{"output_tokens"}, p.OutputTokens...),
	}
	if c.target, err = h.Target(strings.ReplaceAll(p.Path, modelInPath, "model")); err != nil {
		return nil, fmt.Errorf("systemonehttp: %w", err)
	}
	return c, nil
}

// ownMembers are the members of a body that only the request itself sets, and those
// that must never go upstream.
func ownMembers() []string {
	return []string{"model", "models", "state", "questions", "user", "session_id", "trace", "preset"}
}

// Decide sends one request to the upstream.
func (c *Client) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	sent, sole := c.outgoing(a.Request)
	if len(sent.Questions) == 0 {
		return router.Reply{Answers: sole}, nil
	}
	target, err := c.address(a.Model)
	if err != nil {
		return router.Reply{}, err
	}
	body := c.http.Buffer()
	body.Grow(len(a.Request.State))
	body.B = c.appendBody(body.B, sent, a)
	raw, err := c.http.Post(ctx, target, &a, body)
	if err != nil {
		return router.Reply{}, err
	}
	defer raw.Release()
	reply, err := c.decode(raw)
	if err != nil {
		return router.Reply{}, err
	}
	if c.profile.SilenceRefuses {
		reply.Refused = silent(sent, reply.Answers)
	}
	c.restore(&reply, a.Request, sent)
	reply.Answers = append(reply.Answers, sole...)
	return reply, nil
}

// Address returns the host and the port of the upstream, for traces and metrics.
func (c *Client) Address() (host string, port int) { return c.http.Address() }

// Endpoint returns an endpoint of this upstream for a catalog. It serves the
// catalog's model at the provider with the slug; upstreamModel is the upstream's
// name of the model, "" for the same. Limits, context length, tolerance, counting
// and parameters are those of the client's profile. The caller must set what the
// client cannot know: the price, the quantization and how the upstream handles
// data.
func (c *Client) Endpoint(slug, model, upstreamModel string) router.Endpoint {
	return c.profile.Endpoint(slug, model, upstreamModel)
}

// CheckModel reports whether the upstream can be asked for a model of this name:
// where the profile puts the model into the path, some names cannot be used. Check
// the names of a catalog, because every attempt with such a name fails. The error
// wraps [router.ErrConfig].
func (c *Client) CheckModel(name string) error {
	if _, err := c.address(name); err != nil {
		return fmt.Errorf("%w: %w", router.ErrConfig, errModelName)
	}
	return nil
}

var errModelName = errors.New("name of the model cannot stand in a path")

func (c *Client) address(model string) (upstream.Target, error) {
	if !c.inPath {
		return c.target, nil
	}
	if model == "" {
		return upstream.Target{}, &router.UpstreamError{Class: router.ProviderUnavailable, Err: errModelName}
	}
	to, err := c.http.Target(strings.ReplaceAll(c.profile.Path, modelInPath, model))
	if err != nil {
		return upstream.Target{}, &router.UpstreamError{Class: router.ProviderUnavailable, Err: errModelName}
	}
	return to, nil
}
