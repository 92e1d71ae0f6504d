package upstream_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
)

// TestTheTraceGoesUpstreamOnlyWhereTheOperatorSaysSo: over a kept connection and over
// the program's own transport, and never with a text that a header cannot carry.
func TestTheTraceGoesUpstreamOnlyWhereTheOperatorSaysSo(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, c := range []struct {
		name          string
		send          bool
		trace         router.TraceContext
		parent, state []string
	}{
		{"by default", false, router.TraceContext{Parent: parent, State: "a=1"}, nil, nil},
		{"switched on", true, router.TraceContext{Parent: parent, State: "a=1"}, []string{parent}, []string{"a=1"}},
		{"without a state", true, router.TraceContext{Parent: parent}, []string{parent}, nil},
		{"without a trace", true, router.TraceContext{}, nil, nil},
		{"with a line break", true, router.TraceContext{Parent: parent + "\r\nX-Evil: 1"}, nil, nil},
		{"with a line break in the state", true, router.TraceContext{Parent: parent, State: "a=1\r\nX-Evil: 1"}, nil, nil},
	} {
		for way, client := range map[string]*http.Client{"kept": nil, "own transport": {Transport: upstream.NewTransport()}} {
			t.Run(c.name+", "+way, func(t *testing.T) {
				var got http.Header
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					got = r.Header
					_, _ = w.Write([]byte("{}"))
				}))
				defer server.Close()
				u, err := upstream.New(upstream.Config{BaseURL: server.URL, Auth: upstream.AuthNone, SendTrace: c.send, HTTP: client})
				require.NoError(t, err)
				to, err := u.Target("/x")
				require.NoError(t, err)
				reply, err := u.Post(t.Context(), to, &router.Attempt{Trace: c.trace}, u.Buffer())
				require.NoError(t, err)
				reply.Release()
				assert.Equal(t, c.parent, got["Traceparent"])
				assert.Equal(t, c.state, got["Tracestate"])
				assert.Empty(t, got["X-Evil"])
			})
		}
	}
}

func TestAddress(t *testing.T) {
	for base, want := range map[string]struct {
		host string
		port int
	}{
		"https://api.example.com/v1":  {"api.example.com", 443},
		"HTTPS://api.example.com/v1":  {"api.example.com", 443},
		"http://127.0.0.1:11434/v1":   {"127.0.0.1", 11434},
		"http://localhost/api":        {"localhost", 80},
		"https://[2001:db8::1]:8443/": {"2001:db8::1", 8443},
	} {
		c, err := upstream.New(upstream.Config{BaseURL: base, Auth: upstream.AuthNone})
		require.NoError(t, err)
		host, port := c.Address()
		assert.Equal(t, want.host, host)
		assert.Equal(t, want.port, port)
	}
}
