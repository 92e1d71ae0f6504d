package routertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// testRequest: only the attempt goes upstream.
func testRequest(t *testing.T, w Wire) {
	t.Helper()
	t.Run("is the same for the same attempt", func(t *testing.T) {
		b := newBench(t, w)
		a := b.attempt(mixed())
		first := b.sent(t, a)
		for range 3 {
			assert.Equal(t, string(first.body), string(b.sent(t, a).body))
		}
		assert.True(t, json.Valid(first.body))
		assert.Equal(t, strconv.Itoa(len(first.body)), first.header.Get("Content-Length"), "the length is known")
	})
	t.Run("keeps the order", func(t *testing.T) {
		b := newBench(t, w)
		r := ask(text("Paid twice"), choose("desk", "zulu-word", "alpha-word", "mike-word"), rate("heat", "yankee-word", "bravo-word"))
		r.Questions[1].Instructions = text("How november-word?")
		body := b.sent(t, b.attempt(r)).body
		at := -1
		for _, word := range []string{"zulu-word", "alpha-word", "mike-word", "november-word"} {
			next := bytes.Index(body, []byte(word))
			require.Greater(t, next, at, "%s stands where it stood in the request", word)
			at = next
		}
		assert.Greater(t, bytes.Index(body, []byte("bravo-word")), bytes.Index(body, []byte("yankee-word")))
	})
	t.Run("shows the credential and is JSON", func(t *testing.T) {
		b := newBench(t, w)
		c := b.sent(t, b.attempt(mixed()))
		assert.Contains(t, c.header.Get("Content-Type"), "application/json")
		assert.NotContains(t, string(c.body), secretKey, "a credential stands in a header only")
		assert.NotContains(t, c.path, secretKey)
		assert.Empty(t, c.header.Values("Cookie"))
	})
	t.Run("holds no option that the upstream does not know", func(t *testing.T) {
		b := newBench(t, w)
		plain := b.sent(t, b.attempt(mixed()))
		a := b.attempt(mixed())
		a.Options = hostileOptions()
		assert.Equal(t, string(plain.body), string(b.sent(t, a).body), "options cannot set what the request sets")
	})
	t.Run("ignores options that are not an object", func(t *testing.T) {
		b := newBench(t, w)
		plain := b.sent(t, b.attempt(mixed()))
		for _, options := range []string{`{}`, `null`, `[]`, `{"a":`, `"x"`, `}`} {
			a := b.attempt(mixed())
			a.Options = json.RawMessage(options)
			assert.Equal(t, string(plain.body), string(b.sent(t, a).body), options)
		}
	})
	t.Run("changes nothing of the attempt", func(t *testing.T) {
		b := newBench(t, w)
		for _, s := range shapes(!w.NoNulls) {
			a := b.attempt(s.request)
			before := s.request.AppendJSON(nil)
			b.body(http.StatusOK, nil, w.Encode(a, defaultReply(a)))
			_, err := b.provider.Decide(t.Context(), a)
			require.NoError(t, err)
			assert.Equal(t, string(before), string(s.request.AppendJSON(nil)), s.name)
		}
	})
	t.Run("holds nothing that stays here", func(t *testing.T) {
		b := newBench(t, w)
		r := mixed()
		r.SessionID, r.User, r.Preset = secretOptions, secretOptions, secretOptions
		r.Trace = json.RawMessage(`{"trace_id":"` + secretOptions + `"}`)
		r.Provider = &systemone.Preferences{Only: []string{secretOptions}}
		c := b.sent(t, b.attempt(r))
		assert.NotContains(t, string(c.body), secretOptions)
		for _, word := range w.Forbidden {
			assert.NotContains(t, string(c.body), word)
		}
		for name, values := range c.header {
			for _, v := range values {
				assert.NotContains(t, v, secretOptions, name)
			}
		}
	})
}

// hostileOptions try to set members that only the request sets, in every dialect,
// and to name an address.
func hostileOptions() json.RawMessage {
	members := []string{
		"model", "models", "state", "questions", "input", "document", "user", "safety_identifier", "session_id",
		"trace", "preset", "base_url", "url", "api_base", "api_key", "authorization", "headers", "stream", "n",
		secretOptions,
	}
	b := []byte(`{`)
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, m)
		b = append(b, `:{"`+secretOptions+`":"http://127.0.0.1:1/`+secretOptions+`"}`...)
	}
	return append(b, '}')
}

// sent asks once and returns what the upstream got.
func (b *bench) sent(t *testing.T, a router.Attempt) call {
	t.Helper()
	b.body(http.StatusOK, nil, b.wire.Encode(a, defaultReply(a)))
	_, err := b.provider.Decide(t.Context(), a)
	require.NoError(t, err)
	b.askedOnce(t)
	return b.seen()[0]
}
