package routertest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// A test of a client. The suite serves the upstream, whose replies Encode writes.
func ExampleRun() {
	_ = func(t *testing.T) {
		t.Helper()
		routertest.Run(t, routertest.Wire{
			New: func(t *testing.T, base string, key router.Secret) router.Provider {
				t.Helper()
				transport := &http.Transport{MaxResponseHeaderBytes: 1 << 20}
				t.Cleanup(transport.CloseIdleConnections)
				client, err := systemonehttp.New(systemonehttp.Config{
					BaseURL: base, APIKey: key, MaxReplyBytes: 1 << 20, HTTP: &http.Client{Transport: transport},
				})
				require.NoError(t, err)
				return client
			},
			Encode: func(_ router.Attempt, want router.Reply) []byte {
				return systemone.Response{Model: "judge-1", Answers: want.Answers, Usage: want.Usage}.AppendJSON(nil)
			},
			TooLarge: 2 << 20,
		})
	}
	// Output:
}

// A test of a provider that asks no upstream.
func ExampleRunLocal() {
	_ = func(t *testing.T) {
		t.Helper()
		routertest.RunLocal(t, routertest.Local{
			New:           func(*testing.T) router.Provider { return &routertest.Script{} },
			Deterministic: true,
		})
	}
	// Output:
}
