package upstream_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
)

func TestBaseURL(t *testing.T) {
	for _, good := range []string{
		"https://api.example.com", "https://api.example.com/", "https://api.example.com/v1/", "http://127.0.0.1:11434/v1",
		"http://[::1]:8080/v1", "http://localhost/api/v1", "https://10.0.0.7/client/v4/accounts/0a1b/", "HTTPS://api.example.com/v1",
	} {
		_, err := upstream.New(upstream.Config{BaseURL: good, Auth: upstream.AuthNone})
		require.NoError(t, err, good)
	}
	for bad, want := range map[string]string{
		"":                                "missing",
		"api.example.com/v1":              "https://",
		"ftp://api.example.com/v1":        "https://",
		"file:///etc/passwd":              "https://",
		"unix:///run/x":                   "https://",
		"https://":                        "no host",
		"https://:443/v1":                 "no host",
		"https:api.example.com":           "no host",
		"https://ann:hunter2@example.com": "credentials",
		"https://hunter2@example.com":     "credentials",
		"https://example.com/?k=hunter2":  "query",
		"https://example.com/v1?":         "query",
		"https://example.com/v1#hunter2":  "fragment",
		"https://example.com/v1#":         "fragment",
		"https://example.com:0/v1":        "port",
		"https://example.com:99999/v1":    "port",
		"https://example.com:http/v1":     "parsed",
		"https://example.com/../v1":       "path",
		"https://example.com/v1/%2e%2e/x": "path",
		"https://example.com/v1;hunter2":  "path",
		"https://example.com/v 1":         "path",
		"https://exa mple.com/":           "parsed",
		"https://example.com/\x00hunter2": "parsed",
		" https://example.com/v1":         "parsed",
	} {
		_, err := upstream.New(upstream.Config{BaseURL: bad, Auth: upstream.AuthNone})
		require.ErrorIs(t, err, router.ErrConfig, bad)
		require.ErrorContains(t, err, want, bad)
		assert.NotContains(t, err.Error(), "hunter2")
		assert.NotContains(t, err.Error(), "example")
	}
}

func TestTarget(t *testing.T) {
	c, err := upstream.New(upstream.Config{BaseURL: "https://api.example.com/v1/", Auth: upstream.AuthNone})
	require.NoError(t, err)
	for _, bad := range []string{"", "x", "/a/../b", "/..", "/a?b", "/a#b", "/a%2fb", "/a b", "//evil\\", "/\u00e9"} {
		_, err := c.Target(bad)
		require.ErrorIs(t, err, router.ErrConfig, bad)
	}
	_, err = c.Target("/ai/run/@cf/acme/judge-1")
	assert.NoError(t, err)
}

func TestCredential(t *testing.T) {
	for _, c := range []struct {
		name         string
		cfg          upstream.Config
		header, want string
	}{
		{"bearer", upstream.Config{Key: "sk-1"}, "Authorization", "Bearer sk-1"},
		{"basic pair", upstream.Config{Auth: upstream.AuthBasic, Key: "ann:hunter2"}, "Authorization", "Basic YW5uOmh1bnRlcjI="},
		{"basic encoded", upstream.Config{Auth: upstream.AuthBasic, Key: "YW5uOmh1bnRlcjI="}, "Authorization", "Basic YW5uOmh1bnRlcjI="},
		{"header", upstream.Config{Auth: upstream.AuthHeader, KeyHeader: "x-goog-api-key", Key: "sk-1"}, "X-Goog-Api-Key", "sk-1"},
		{"none", upstream.Config{Auth: upstream.AuthNone}, "Authorization", ""},
		{"optional", upstream.Config{KeyOptional: true}, "Authorization", ""},
		{"optional, given", upstream.Config{KeyOptional: true, Key: "sk-1"}, "Authorization", "Bearer sk-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got http.Header
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				_, _ = w.Write([]byte("{}"))
			}))
			defer server.Close()
			c.cfg.BaseURL = server.URL
			client, err := upstream.New(c.cfg)
			require.NoError(t, err)
			post(t, client, "{}").Release()
			assert.Equal(t, c.want, got.Get(c.header))
			assert.Equal(t, "signalbox", got.Get("User-Agent"))
			assert.Empty(t, got.Get("Accept-Encoding"), "nothing compressed is asked for")
		})
	}
	for name, cfg := range map[string]upstream.Config{
		"missing":      {},
		"with a none":  {Auth: upstream.AuthNone, Key: "hunter2"},
		"line break":   {Key: "hunter2\n"},
		"space":        {Key: "hunter 2"},
		"injection":    {Key: "hunter2\r\nX-Evil: 1"},
		"not ASCII":    {Key: "hunter2\u00e9"},
		"no header":    {Auth: upstream.AuthHeader, Key: "hunter2"},
		"unknown auth": {Auth: "digest", Key: "hunter2"},
		"limits":       {Key: "hunter2", MaxReplyBytes: -1},
	} {
		cfg.BaseURL = "https://api.example.com/v1"
		_, err := upstream.New(cfg)
		require.ErrorIs(t, err, router.ErrConfig, name)
		assert.NotContains(t, err.Error(), "hunter2", name)
	}
}

// post sends a body to /x and requires a reply.
func post(t *testing.T, c *upstream.Client, body string) upstream.Reply {
	t.Helper()
	to, err := c.Target("/x")
	require.NoError(t, err)
	b := c.Buffer()
	b.B = append(b.B, body...)
	reply, err := c.Post(t.Context(), to, &router.Attempt{RequestID: "req-1"}, b)
	require.NoError(t, err)
	return reply
}

// A caller's own credential is sent in the same way as the operator's.
func TestOwnCredential(t *testing.T) {
	for _, c := range []struct {
		name         string
		cfg          upstream.Config
		header, want string
	}{
		{"bearer", upstream.Config{Key: "sk-1"}, "Authorization", "Bearer own:1"},
		{"basic", upstream.Config{Auth: upstream.AuthBasic, Key: "ann:hunter2"}, "Authorization", "Basic b3duOjE="},
		{"header", upstream.Config{Auth: upstream.AuthHeader, KeyHeader: "x-goog-api-key", Key: "sk-1"}, "X-Goog-Api-Key", "own:1"},
		{"without the operator's", upstream.Config{KeyOptional: true}, "Authorization", "Bearer own:1"},
		{"none is taken", upstream.Config{Auth: upstream.AuthNone}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = true
				assert.Equal(t, []string{c.want}, r.Header.Values(c.header))
				assert.Equal(t, "req-1", r.Header.Get("X-Request-Id"))
				_, _ = w.Write([]byte("{}"))
			}))
			defer server.Close()
			c.cfg.BaseURL, c.cfg.RequestIDHeader = server.URL, "x-request-id"
			client, err := upstream.New(c.cfg)
			require.NoError(t, err)
			to, err := client.Target("/x")
			require.NoError(t, err)
			reply, err := client.Post(t.Context(), to, &router.Attempt{RequestID: "req-1", Credential: "own:1"}, client.Buffer())
			if c.header != "" {
				require.NoError(t, err)
				reply.Release()
				return
			}
			failed, ok := errors.AsType[*router.UpstreamError](err)
			require.True(t, ok)
			assert.True(t, failed.Local, "not the upstream's fault")
			assert.NotContains(t, err.Error(), "own:1")
			assert.False(t, asked)
		})
	}
}
