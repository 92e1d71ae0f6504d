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

// Config says which upstream a [Client] asks.
type Config struct {
	// BaseURL is the address up to and including its version, e.g.
	// https://api.openai.com/v1; required. It has neither credentials nor a
	// query. Plain http and loopback are allowed.
	BaseURL string
	// APIKey goes to that scheme, host and port only, as a Bearer token.
	// Required unless KeyOptional.
	APIKey      router.Secret
	KeyOptional bool
	// HTTP gives its Transport and its Timeout; redirects are never followed
	// and cookies never kept. Nil is a transport of the client's own: no proxy
	// from the environment, TLS 1.2 or newer, a bounded pool.
	HTTP *http.Client
	// MaxReplyBytes is the largest reply that is read; default 32 MiB.
	MaxReplyBytes int64
	// MaxInFlightBytes bounds the bodies of all attempts that are under way
	// together; default 256 MiB. An attempt beyond it is not sent
	// ([router.ErrNotSent]).
	MaxInFlightBytes int64
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

// New checks cfg. Its errors wrap [router.ErrConfig] and hold no secret.
func New(cfg Config) (*Client, error) {
	h, err := upstream.New(upstream.Config{
		BaseURL:          cfg.BaseURL,
		Key:              cfg.APIKey,
		KeyOptional:      cfg.KeyOptional,
		RequestIDHeader:  "X-Client-Request-Id",
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

// Endpoint describes this upstream for a catalog in which its provider has the
// slug: it serves the catalog's model under its own name upstreamModel, "" for the
// same. Limits, tolerance and parameters are those of the dialect: its answers have
// two decimals. What the client cannot know is for the caller to set: the price, the
// context length, the quantization, and what becomes of the data.
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

// Decide asks the upstream once.
func (c *Client) Decide(ctx context.Context, a router.Attempt) (router.Reply, error) {
	asked, sole := split(a.Request.Questions)
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

// split sets the questions aside that have one possible answer.
func split(questions []systemone.Question) (asked []systemone.Question, sole systemone.Answers) {
	for i, q := range questions {
		if !upstream.Sole(q) {
			if sole != nil {
				asked = append(asked, q)
			}
			continue
		}
		if sole == nil {
			asked = append(asked, questions[:i]...)
		}
		sole = append(sole, upstream.SoleAnswer(q))
	}
	if sole == nil {
		return questions, nil
	}
	return asked, sole
}
