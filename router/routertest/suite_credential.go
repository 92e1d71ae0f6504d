package routertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// testCredentials: a caller's own credential replaces the operator's for one
// attempt, and appears nowhere else.
func testCredentials(t *testing.T, w Wire) {
	t.Helper()
	t.Run("is the caller's own where one is given", func(t *testing.T) {
		b := newBench(t, w)
		before := b.sent(t, b.attempt(mixed()))
		own := b.sent(t, b.own())
		assert.True(t, shows(own.header, secretOwn), "the caller's own credential is shown")
		assert.False(t, shows(own.header, secretKey), "the operator's is not")
		assert.Equal(t, string(before.body), string(own.body), "nothing else changes")
		assert.Equal(t, before.path, own.path)
		after := b.sent(t, b.attempt(mixed()))
		assert.False(t, shows(after.header, secretOwn), "it is for one attempt")
		assert.Equal(t, before.header, after.header)
	})
	t.Run("is told to nobody", func(t *testing.T) {
		b := newBench(t, w)
		for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError} {
			b.body(status, nil, []byte(`{"error":{"message":"Incorrect API key provided: `+secretOwn+`"}}`))
			assert.Equal(t, status, b.fails(t, b.own()).Status)
		}
		b.body(http.StatusOK, nil, []byte(secretOwn))
		assert.True(t, b.fails(t, b.own()).BadReply)
		b.server.Close()
		_, err := b.provider.Decide(t.Context(), b.own())
		_ = failure(t, err)
	})
	t.Run("goes to the upstream only", func(t *testing.T) {
		var elsewhere atomic.Int64
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
		defer other.Close()
		b := newBench(t, w)
		b.body(http.StatusTemporaryRedirect, http.Header{"Location": {other.URL}}, nil)
		_ = b.fails(t, b.own())
		assert.Zero(t, elsewhere.Load())
	})
	t.Run("is not sent where it cannot be shown", func(t *testing.T) {
		for _, end := range []string{"\r\nX-Evil: 1", "\n", " x", "\x00", "\u00e9"} {
			b := newBench(t, w)
			a := b.own()
			a.Credential += router.Secret(end)
			b.body(http.StatusOK, nil, w.Encode(a, defaultReply(a)))
			_, err := b.provider.Decide(t.Context(), a)
			_ = failure(t, err)
			require.Empty(t, b.seen(), "neither it nor the operator's is shown")
		}
	})
}

// own is an attempt with a caller's own credential.
func (b *bench) own() router.Attempt {
	a := b.attempt(mixed())
	a.Credential = secretOwn
	return a
}

// shows reports whether a header contains a secret.
func shows(h http.Header, secret string) bool {
	for _, values := range h {
		if strings.Contains(strings.Join(values, "\n"), secret) {
			return true
		}
	}
	return false
}
