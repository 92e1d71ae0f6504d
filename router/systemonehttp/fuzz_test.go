package systemonehttp_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// FuzzReply: for any reply the client does not panic, and every failure is an
// UpstreamError. Answers that pass the check can be returned to a caller.
func FuzzReply(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.http")
	require.NoError(f, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data)), nil)
		require.NoError(f, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(f, err)
		require.NoError(f, resp.Body.Close())
		f.Add(resp.StatusCode, body, 0)
		f.Add(resp.StatusCode, body, 6)
	}
	profiles := systemonehttp.Profiles()
	f.Fuzz(func(t *testing.T, status int, body []byte, which int) {
		p := profiles[uint(which)%uint(len(profiles))]
		trip := &tripper{answer: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body))}, nil
		}}
		r := request()
		got, err := client(t, p, trip).Decide(t.Context(), router.Attempt{Request: r, Model: "judge-1"})
		if err != nil {
			if failed, ok := errors.AsType[*router.UpstreamError](err); !ok || failed.Class == "" {
				t.Fatalf("unclassed: %v", err)
			}
			return
		}
		if status != http.StatusOK {
			t.Fatalf("status %d gave answers", status)
		}
		if fixed, err := systemone.Repair(r, got.Answers, p.Tolerance); err == nil && len(fixed) != len(r.Questions) {
			t.Fatal("answers are missing")
		}
	})
}
