package geminidecisions

import (
	"context"
	"errors"
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
	// https://generativelanguage.googleapis.com/v1beta; required. It must have
	// neither credentials nor a query. Plain http and loopback are allowed.
	BaseURL string
	// APIKey is sent in the header X-Goog-Api-Key, to the scheme, host and port of
	// BaseURL only. Required unless KeyOptional.
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
		Auth:             upstream.AuthHeader,
		KeyHeader:        "X-Goog-Api-Key",
		Key:              cfg.APIKey,
		KeyOptional:      cfg.KeyOptional,
		SendTrace:        cfg.SendTrace,
		HTTP:             cfg.HTTP,
		MaxReplyBytes:    cfg.MaxReplyBytes,
		MaxInFlightBytes: cfg.MaxInFlightBytes,
		Rules:            rules(),
		RetryBody:        upstream.RetryInfo,
		Now:              cfg.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("geminidecisions: %w", err)
	}
	target, err := h.Target("/decisions")
	if err != nil {
		return nil, fmt.Errorf("geminidecisions: %w", err)
	}
	return &Client{http: h, target: target}, nil
}

// rules distinguish the errors of status 400: a key that is unknown or may not be used,
// and a prompt that is too long. Any other 400 is an invalid request.
func rules() []upstream.Rule {
	return append([]upstream.Rule{
		{Status: http.StatusBadRequest, Message: "API key not valid", Class: router.ProviderUnavailable},
		{Status: http.StatusBadRequest, Message: "API key not found", Class: router.ProviderUnavailable},
		{Status: http.StatusBadRequest, Message: "API key expired", Class: router.ProviderUnavailable},
		{Status: http.StatusBadRequest, Code: "FAILED_PRECONDITION", Class: router.ProviderUnavailable},
		{Status: http.StatusBadRequest, Message: "exceeds the maximum number of tokens", Class: router.PayloadTooLarge},
	}, upstream.CommonRules()...)
}

// What the service takes, as published.
const (
	maxQuestions = 1_000
	maxLabels    = 255 // options of a choice, levels of a score
	maxContext   = 262_144
	twoDecimals  = 0.01
)

// Endpoint describes this upstream for a catalog in which its provider has the
// slug: it serves the catalog's model under its own name upstreamModel, "" for the
// same. Limits and the context length, which state and questions share, are
// those of the service. The context length is also the largest count of input tokens
// that is accepted. The endpoint takes no parameter, and no null except an option without
// guidance. The service does not publish how it rounds: two decimals are assumed.
// What the client cannot know is for the caller to set: the price, the quantization,
// and what becomes of the data.
func (*Client) Endpoint(slug, model, upstreamModel string) router.Endpoint {
	return router.Endpoint{
		Provider:      slug,
		Model:         model,
		UpstreamModel: upstreamModel,
		ContextLength: maxContext,
		Limits:        router.EndpointLimits{Questions: maxQuestions, Options: maxLabels, Levels: maxLabels, OptionNullsOnly: true},
		Tolerance:     systemone.Tolerance{Rounding: twoDecimals},
	}
}

// errUnsupported is for what [Client.Endpoint] declares and for empty levels, which
// limits cannot express.
var errUnsupported = errors.New("the request lacks a state, instructions or the text of a level, without which the dialect cannot ask")

// Address returns the host and the port of the upstream, for traces and metrics.
func (c *Client) Address() (host string, port int) { return c.http.Address() }

// Decide asks the upstream once.
func (c *Client) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	asked, sole := upstream.SplitSole(a.Request.Questions)
	if len(asked) == 0 {
		return router.Reply{Answers: sole}, nil
	}
	if !supported(a.Request.State, asked) {
		return router.Reply{}, &router.UpstreamError{Class: router.ProviderUnavailable, Local: true, Err: errUnsupported}
	}
	body := c.http.Buffer()
	body.Grow(len(a.Request.State))
	body.B = appendRequest(body.B, a, asked)
	raw, err := c.http.Post(ctx, c.target, &a, body)
	if err != nil {
		return router.Reply{}, keepLocal(err, a.Credential)
	}
	defer raw.Release()
	reply, err := decode(raw.Data, asked)
	if err != nil {
		return router.Reply{}, err
	}
	reply.Answers = append(reply.Answers, sole...)
	return reply, nil
}

// keepLocal marks the refusal of a caller's own key as Local, so that it does not
// count against the endpoint. The router recognises a refused key by its status, but
// this service answers 400.
func keepLocal(err error, own router.Secret) error {
	failed, ok := errors.AsType[*router.UpstreamError](err)
	if ok && own != "" && failed.Status == http.StatusBadRequest && failed.Class == router.ProviderUnavailable {
		failed.Local = true
	}
	return err
}
