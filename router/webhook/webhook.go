package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
)

// ErrConfig is wrapped by every error of [New].
var ErrConfig = errors.New("webhook: invalid configuration")

const (
	defaultTimeout  = 10 * time.Second
	defaultAttempts = 5
	firstPause      = time.Second
	longestPause    = time.Minute
	maxReplyBytes   = 4 << 10 // of a body, which is read only so that the connection is used again
)

// Config configures a [Hook].
type Config struct {
	URL string // required; https unless Private is set
	// Secrets sign every delivery, each with a signature of its own. A secret is
	// "whsec_" and the base64 of 24 to 64 random bytes. To rotate it without a gap, put
	// the new one first, let the receiver accept both, and remove the old one. At least
	// one is required.
	Secrets []router.Secret
	// Private allows http, and addresses that are not on the public internet, such as
	// loopback. Set it only where the operator, and no customer, chooses the URL.
	Private bool
	// Timeout bounds one attempt; default 10 s.
	Timeout time.Duration
	// Attempts is how often an event is sent at most; default 5. The pause before an
	// attempt doubles from 1 s to 1 min, with jitter. It is longer where the receiver asks for
	// that with Retry-After, up to 1 min.
	Attempts int
	// Transport sends the requests. The default one connects as Private says; any other
	// must protect the operator's network itself.
	Transport http.RoundTripper
	Now       func() time.Time // default time.Now
	Seed      func() uint64    // for the jitter; default rand.Uint64
}

// Hook is a [hooks.Handler] that sends events to an address. It is safe for concurrent
// use.
type Hook struct {
	cfg    Config
	url    string
	keys   [][]byte
	client *http.Client
}

var _ hooks.Handler = (*Hook)(nil)

// New makes a hook. Errors wrap [ErrConfig] and contain neither the URL nor a secret.
func New(cfg Config) (*Hook, error) {
	u, err := parseAddress(cfg.URL, cfg.Private)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	keys, err := keysOf(cfg.Secrets)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	case len(keys) == 0:
		return nil, fmt.Errorf("%w: Secrets is required", ErrConfig)
	case cfg.Timeout < 0 || cfg.Attempts < 0:
		return nil, fmt.Errorf("%w: Timeout and Attempts must not be negative", ErrConfig)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = defaultAttempts
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Seed == nil {
		cfg.Seed = rand.Uint64
	}
	if cfg.Transport == nil {
		cfg.Transport = newTransport(cfg.Private)
	}
	client := &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Hook{cfg: cfg, url: u.String(), keys: keys, client: client}, nil
}

// String returns a text without the address and the secrets.
func (*Hook) String() string { return "webhook" }

// GoString returns the same.
func (*Hook) GoString() string { return "webhook" }

// Handle implements [hooks.Handler]: it sends the event until the receiver answers with
// a 2xx status, the attempts are used up or ctx ends. After a 410 it does not try again.
func (h *Hook) Handle(ctx context.Context, e hooks.Event) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		asked, err := h.send(ctx, e.ID, body)
		if err == nil || attempt == h.cfg.Attempts || errors.Is(err, errGone) {
			return err
		}
		// Between half and the whole pause, so that many senders do not come at once.
		wait := pause/2 + time.Duration(h.cfg.Seed()%uint64(pause/2+1)) //nolint:gosec // not negative
		if !rest(ctx, max(wait, min(asked, longestPause))) {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var (
	errGone = errors.New("webhook: the receiver answered 410 and wants no more events")
	// errSend stands for all errors of a connection, because theirs contain the address.
	errSend = errors.New("webhook: no reply")
)

// send makes one attempt. It returns the pause that the receiver asks for.
func (h *Hook) send(ctx context.Context, id string, body []byte) (time.Duration, error) {
	limited, cancel := context.WithTimeout(ctx, h.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return 0, errSend
	}
	timestamp := strconv.FormatInt(h.cfg.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "signalbox")
	req.Header.Set(HeaderID, id)
	req.Header.Set(HeaderTimestamp, timestamp)
	req.Header.Set(HeaderSignature, signatures(h.keys, id, timestamp, body))
	res, err := h.client.Do(req)
	switch {
	case errors.Is(err, errPrivate):
		return 0, fmt.Errorf("webhook: %w", errPrivate)
	case errors.Is(err, context.DeadlineExceeded):
		return 0, fmt.Errorf("%w within %s", errSend, h.cfg.Timeout)
	case err != nil:
		return 0, errSend
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, maxReplyBytes)
	switch {
	case res.StatusCode/100 == 2:
		return 0, nil
	case res.StatusCode == http.StatusGone:
		return 0, errGone
	}
	return upstream.RetryAfter(res.Header, h.cfg.Now()), fmt.Errorf("webhook: the receiver answered %d", res.StatusCode)
}
