package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/webhook"
)

const (
	oldSecret router.Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" // of the published vector
	newSecret router.Secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
)

var (
	noon   = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	change = hooks.Event{ID: "evt_1", At: noon, Data: hooks.Change{Action: "create", Kind: "key", Fields: []string{}}}
)

// TestAReceiverVerifiesWhatIsSent sends an event over real HTTP to a receiver that knows
// the old secret, the new one, or neither.
func TestAReceiverVerifiesWhatIsSent(t *testing.T) {
	type request struct {
		header http.Header
		method string
		body   []byte
	}
	var got request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = request{r.Header, r.Method, body}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	hook, err := webhook.New(webhook.Config{
		URL: server.URL + "/in?tenant=1", Secrets: []router.Secret{newSecret, oldSecret}, Private: true,
		Now: func() time.Time { return noon },
	})
	require.NoError(t, err)
	require.NoError(t, hook.Handle(t.Context(), change))

	assert.Equal(t, http.MethodPost, got.method)
	assert.Equal(t, "application/json", got.header.Get("Content-Type"))
	assert.Equal(t, "evt_1", got.header.Get("webhook-id"))
	assert.Equal(t, "1795262400", got.header.Get("webhook-timestamp"))
	assert.Len(t, strings.Fields(got.header.Get("webhook-signature")), 2)
	var e hooks.Event
	require.NoError(t, json.Unmarshal(got.body, &e))
	assert.Equal(t, change, e)

	verify := func(secret router.Secret) error {
		return webhook.Verify([]router.Secret{secret}, got.header, got.body, noon)
	}
	require.NoError(t, verify(oldSecret))
	require.NoError(t, verify(newSecret))
	require.ErrorIs(t, verify(router.Secret("whsec_"+strings.Repeat("A", 32))), webhook.ErrSignature)
}

// TestVerify: the published vector fits, and nothing that differs from it.
func TestVerify(t *testing.T) {
	at := time.Unix(1614265330, 0)
	const good = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	for _, c := range []struct {
		name, id, timestamp, signature, body string
		now                                  time.Time
		fits                                 bool
	}{
		{"the published vector", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", good, `{"test": 2432232314}`, at, true},
		{"one of several", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1a,x v1,eA== v1,? " + good, `{"test": 2432232314}`, at, true},
		{"as late as may be", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", good, `{"test": 2432232314}`, at.Add(webhook.Tolerance), true},
		{"too late", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", good, `{"test": 2432232314}`, at.Add(webhook.Tolerance + 1), false},
		{"too early", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", good, `{"test": 2432232314}`, at.Add(-webhook.Tolerance - 1), false},
		{"another body", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", good, `{"test": 2432232315}`, at, false},
		{"another id", "msg_p5jXN8AQM9LWM0D4loKWxJel", "1614265330", good, `{"test": 2432232314}`, at, false},
		{"another time", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265331", good, `{"test": 2432232314}`, at, false},
		{"another scheme", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v2" + good[2:], `{"test": 2432232314}`, at, false},
		{"no signature", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "", `{"test": 2432232314}`, at, false},
		{"no time", "msg_p5jXN8AQM9LWM0D4loKWxJek", "", good, `{"test": 2432232314}`, at, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			header.Set(webhook.HeaderID, c.id)
			header.Set(webhook.HeaderTimestamp, c.timestamp)
			header.Set(webhook.HeaderSignature, c.signature)
			err := webhook.Verify([]router.Secret{oldSecret}, header, []byte(c.body), c.now)
			if c.fits {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, webhook.ErrSignature)
			}
		})
	}
	err := webhook.Verify([]router.Secret{"hunter2"}, http.Header{}, nil, at)
	require.ErrorContains(t, err, "secret 0 must begin with whsec_")
	require.NotContains(t, err.Error(), "hunter2")
}

// wire answers attempts from a list and notes when they came, by the clock of the bubble.
type wire struct {
	answers []answer
	at      []time.Duration
	began   time.Time
}

type answer struct {
	status int
	after  string // Retry-After
	err    error
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.began.IsZero() {
		w.began = time.Now()
	}
	w.at = append(w.at, time.Since(w.began))
	a := w.answers[min(len(w.at), len(w.answers))-1]
	switch {
	case a.err != nil:
		return nil, a.err
	case a.status == 0:
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	header := http.Header{"Location": {"http://127.0.0.1/"}}
	if a.after != "" {
		header.Set("Retry-After", a.after)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader("hunter2")), Request: r}, nil
}

// TestAttempts: what is tried again, after which pauses. The jitter is the least.
func TestAttempts(t *testing.T) {
	ok, second, minute := answer{status: 200}, time.Second, time.Minute
	hidden := errors.New("dial https://ops.example.com/hunter2")
	for _, c := range []struct {
		name    string
		answers []answer
		at      []time.Duration
		err     string
	}{
		{"accepted", []answer{{status: 204}}, []time.Duration{0}, ""},
		{"a redirect is not followed", []answer{{status: 302}, ok}, []time.Duration{0, second / 2}, ""},
		{"each pause is twice the last", []answer{{status: 500}}, []time.Duration{0, second / 2, 3 * second / 2, 7 * second / 2, 15 * second / 2}, "answered 500"},
		{"a refusal is tried again", []answer{{status: 404}, ok}, []time.Duration{0, second / 2}, ""},
		{"the receiver asks for more time", []answer{{status: 429, after: "20"}, ok}, []time.Duration{0, 20 * second}, ""},
		{"but not for hours", []answer{{status: 503, after: "7200"}, ok}, []time.Duration{0, minute}, ""},
		{"gone", []answer{{status: 410}}, []time.Duration{0}, "answered 410"},
		{"no connection", []answer{{err: hidden}, ok}, []time.Duration{0, second / 2}, ""},
		{"never a connection", []answer{{err: hidden}}, []time.Duration{0, second / 2, 3 * second / 2, 7 * second / 2, 15 * second / 2}, "webhook: no reply"},
		{"no answer within 10 s", []answer{{}, ok}, []time.Duration{0, 10*second + second/2}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{answers: c.answers}
				hook, err := webhook.New(webhook.Config{
					URL: "https://ops.example.com/hunter2", Secrets: []router.Secret{newSecret}, Transport: w,
					Seed: func() uint64 { return 0 },
				})
				require.NoError(t, err)
				err = hook.Handle(t.Context(), change)
				if c.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.err)
					require.NotContains(t, err.Error(), "hunter2", "neither the address nor what the receiver says")
				}
				assert.Equal(t, c.at, w.at)
			})
		})
	}
}

// TestJitter: pauses differ between senders by up to half.
func TestJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{answers: []answer{{status: 500}, {status: 200}}}
		hook, err := webhook.New(webhook.Config{
			URL: "https://ops.example.com", Secrets: []router.Secret{newSecret}, Transport: w,
			Seed: func() uint64 { return uint64(time.Second / 2) },
		})
		require.NoError(t, err)
		require.NoError(t, hook.Handle(t.Context(), change))
		assert.Equal(t, []time.Duration{0, time.Second}, w.at)
	})
}

// TestHandleEndsWithItsContext: in a pause as well as in an attempt.
func TestHandleEndsWithItsContext(t *testing.T) {
	for _, a := range []answer{{status: 500}, {}} {
		synctest.Test(t, func(t *testing.T) {
			hook, err := webhook.New(webhook.Config{
				URL: "https://ops.example.com", Secrets: []router.Secret{newSecret}, Transport: &wire{answers: []answer{a}}, Attempts: 1000,
			})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			began := time.Now()
			require.Error(t, hook.Handle(ctx, change))
			assert.Equal(t, 5*time.Minute, time.Since(began))
		})
	}
}

// TestNewRefuses lists every mistake that New finds. No error tells the address or a
// secret.
func TestNewRefuses(t *testing.T) {
	secrets := []router.Secret{newSecret}
	for _, c := range []struct {
		want string
		cfg  webhook.Config
	}{
		{"URL is required", webhook.Config{Secrets: secrets}},
		{"cannot be parsed", webhook.Config{URL: "https://hunter2 host", Secrets: secrets}},
		{"must begin with https://", webhook.Config{URL: "http://hunter2", Secrets: secrets}},
		{"must begin with https://", webhook.Config{URL: "file:///hunter2", Secrets: secrets, Private: true}},
		{"must not hold credentials", webhook.Config{URL: "https://me:hunter2@host", Secrets: secrets}},
		{"names no host", webhook.Config{URL: "https:///hunter2", Secrets: secrets}},
		{"must not have a fragment", webhook.Config{URL: "https://host/#hunter2", Secrets: secrets}},
		{"Secrets is required", webhook.Config{URL: "https://host"}},
		{"secret 1 must begin with whsec_", webhook.Config{URL: "https://host", Secrets: []router.Secret{newSecret, "hunter2"}}},
		{"secret 0 must be base64", webhook.Config{URL: "https://host", Secrets: []router.Secret{"whsec_hunter2"}}},
		{"must have 24 to 64 bytes", webhook.Config{URL: "https://host", Secrets: []router.Secret{"whsec_AAAA"}}},
		{"must not be negative", webhook.Config{URL: "https://host", Secrets: secrets, Attempts: -1}},
	} {
		_, err := webhook.New(c.cfg)
		require.ErrorIs(t, err, webhook.ErrConfig, c.want)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	cfg := webhook.Config{URL: "https://host/hunter2", Secrets: secrets}
	hook, err := webhook.New(cfg)
	require.NoError(t, err)
	shown := fmt.Sprintf("%v %+v %#v %v %+v", hook, hook, hook, cfg.Secrets, cfg.Secrets)
	assert.NotContains(t, shown, "whsec_")
	assert.NotContains(t, shown, "hunter2")
}
