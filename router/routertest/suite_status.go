package routertest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
)

// statuses are those that the interface names, and some that it does not.
func statuses() []int {
	return []int{
		400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 418, 422, 425, 429, 431, 451,
		500, 501, 502, 503, 504, 520, edgeTimeout, overloaded, 599,
	}
}

// bodies are error bodies in the forms of real upstreams; none changes the class of
// its status.
func bodies() map[string]string {
	return map[string]string{
		"object":     `{"error":{"code":1,"message":"` + secretReply + `"}}`,
		"detail":     `{"detail":{"error_type":"other","message":"` + secretReply + `"}}`,
		"list":       `{"detail":[{"loc":["body"],"msg":"` + secretReply + `","input":"` + secretState + `"}]}`,
		"text":       `"` + secretReply + `"`,
		"html":       "<!DOCTYPE html><html><body>" + secretReply + "</body></html>",
		"broken":     `{"error":{"message":"` + secretReply,
		"empty":      "",
		"not UTF-8":  "\xff\xfe" + secretReply,
		"very large": `{"error":{"message":"` + strings.Repeat(secretReply, 20_000) + `"}}`,
		"very deep":  strings.Repeat(`{"error":`, 5_000) + strings.Repeat("}", 5_000),
	}
}

// testStatus: every status gets its class, whatever the body says.
func testStatus(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	for _, status := range statuses() {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			for name, body := range bodies() {
				b.body(status, nil, []byte(body))
				failed := b.fails(t, b.attempt(mixed()))
				assert.Equal(t, status, failed.Status, name)
				assert.Equal(t, class(status), orUnavailable(failed.Class), name)
				assert.False(t, failed.BadReply, "a refusal is no bad reply")
				assert.Zero(t, failed.RetryAfter)
			}
		})
	}
	t.Run("success without an answer", func(t *testing.T) {
		for _, status := range []int{201, 202, 204, 206} {
			b.body(status, nil, nil)
			failed := b.fails(t, b.attempt(mixed()))
			assert.Equal(t, router.ProviderUnavailable, orUnavailable(failed.Class))
		}
	})
}

func orUnavailable(c router.Class) router.Class {
	if c == "" {
		return router.ProviderUnavailable
	}
	return c
}

// testRetryAfter: hints are read in every form, and limited to an hour.
func testRetryAfter(t *testing.T, w Wire) {
	t.Helper()
	b := newBench(t, w)
	for _, c := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"seconds", http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		{"zero", http.Header{"Retry-After": {"0"}}, 0},
		{"spaces", http.Header{"Retry-After": {" 7 "}}, 7 * time.Second},
		{"milliseconds", http.Header{"Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		{"milliseconds first", http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"9"}}, 250 * time.Millisecond},
		{"broken milliseconds", http.Header{"Retry-After-Ms": {"soon"}, "Retry-After": {"9"}}, 9 * time.Second},
		{"an hour", http.Header{"Retry-After": {"3600"}}, time.Hour},
		{"more than an hour", http.Header{"Retry-After": {"3601"}}, time.Hour},
		{"a number too large", http.Header{"Retry-After": {"99999999999999999999999999"}}, time.Hour},
		{"milliseconds too large", http.Header{"Retry-After-Ms": {"9223372036854775807"}}, time.Hour},
		{"negative", http.Header{"Retry-After": {"-5"}}, 0},
		{"words", http.Header{"Retry-After": {"later"}}, 0},
		{"a past date", http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, 0},
		{"a far date", http.Header{"Retry-After": {"Fri, 31 Dec 9999 23:59:59 GMT"}}, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, overloaded} {
				b.body(status, c.header, []byte(`{}`))
				failed := b.fails(t, b.attempt(mixed()))
				assert.Equal(t, c.want, failed.RetryAfter)
				assert.Equal(t, class(status), failed.Class)
			}
		})
	}
	testRetryBody(t, b)
	t.Run("a date", func(t *testing.T) {
		at := time.Now().Add(10 * time.Minute).UTC().Format(http.TimeFormat)
		b.body(http.StatusTooManyRequests, http.Header{"Retry-After": {at}}, nil)
		failed := b.fails(t, b.attempt(mixed()))
		assert.InDelta(t, (10 * time.Minute).Seconds(), failed.RetryAfter.Seconds(), patience.Seconds())
	})
}

// testRetryBody: a hint in the body counts where no header has one.
func testRetryBody(t *testing.T, b *bench) {
	t.Helper()
	if b.wire.RetryBody == nil {
		return
	}
	for _, c := range []struct {
		name   string
		header http.Header
		hint   time.Duration
		want   time.Duration
	}{
		{"body", nil, 3500 * time.Millisecond, 3500 * time.Millisecond},
		{"body, more than an hour", nil, 3 * time.Hour, time.Hour},
		{"body, negative", nil, -time.Second, 0},
		{"body, after a header", http.Header{"Retry-After": {"7"}}, 9 * time.Second, 7 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.body(http.StatusTooManyRequests, c.header, b.wire.RetryBody(c.hint))
			failed := b.fails(t, b.attempt(mixed()))
			assert.Equal(t, c.want, failed.RetryAfter)
			assert.Equal(t, router.RateLimitExceeded, failed.Class)
		})
	}
}

// testRedirects: a redirect is a failure; its target gets neither the request
// nor the credential.
func testRedirects(t *testing.T, w Wire) {
	t.Helper()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		rw.WriteHeader(http.StatusOK)
	}))
	defer other.Close()
	b := newBench(t, w)
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			for _, to := range []string{other.URL + "/" + secretReply, "/elsewhere"} {
				b.body(status, http.Header{"Location": {to}, "Retry-After": {"1"}}, nil)
				failed := b.fails(t, b.attempt(mixed()))
				assert.Equal(t, router.ProviderUnavailable, orUnavailable(failed.Class))
				assert.Equal(t, status, failed.Status)
			}
		})
	}
	assert.Zero(t, elsewhere.Load(), "a redirect must not be followed")
}
