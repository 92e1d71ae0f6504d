package export_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
)

var _ telemetry.Sink = (*export.Queue)(nil)

// TestAWebhook gets its own headers and a test call that says so.
func TestAWebhook(t *testing.T) {
	var got []*http.Request
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got, bodies = append(got, r), append(bodies, string(body))
	}))
	defer server.Close()
	h, err := export.NewWebhook(export.HTTPConfig{URL: server.URL + "/hook?token=t", Headers: map[string]router.Secret{"x-key": "hunter2"}})
	require.NoError(t, err)
	require.NoError(t, h.Test(t.Context()))
	require.NoError(t, h.Export(t.Context(), spans(1)))
	require.Len(t, got, 2)
	for _, r := range got {
		assert.Equal(t, "POST /hook?token=t", r.Method+" "+r.URL.String())
		assert.Equal(t, "hunter2", r.Header.Get("X-Key"))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
	}
	assert.Equal(t, []string{"true"}, got[0].Header["X-Test-Connection"])
	assert.JSONEq(t, `{"resourceSpans":[]}`, bodies[0])
	assert.Empty(t, got[1].Header["X-Test-Connection"])
	assert.Contains(t, bodies[1], `"service.name","value":{"stringValue":"signalbox"}`)
}

// TestRepliesOfADestination: which are tried again, and how many spans a refusal is about.
func TestRepliesOfADestination(t *testing.T) {
	for _, c := range []struct {
		name, retry, body string
		status            int
		want              *export.Error // without Err; nil is success
	}{
		{"ok", "", "", 200, nil},
		{"accepted", "", "thanks", 202, nil},
		{"none rejected", "", `{"partialSuccess":{"rejectedSpans":"0","errorMessage":"hint"}}`, 200, nil},
		{"some rejected", "", `{"partialSuccess":{"rejectedSpans":"2"}}`, 200, &export.Error{Final: true, Rejected: 2}},
		{"redirect", "", "", 302, &export.Error{Final: true}},
		{"refused", "", "", 400, &export.Error{Final: true}},
		{"unknown key", "", "", 401, &export.Error{Final: true}},
		{"too many", "7", "", 429, &export.Error{RetryAfter: 7 * time.Second}},
		{"away", "", "", 503, &export.Error{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://169.254.169.254/")
				if c.retry != "" {
					w.Header().Set("Retry-After", c.retry)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			h, err := export.NewWebhook(export.HTTPConfig{URL: server.URL + "/hunter2"})
			require.NoError(t, err)
			err = h.Export(t.Context(), spans(3))
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			got, ok := errors.AsType[*export.Error](err)
			require.True(t, ok)
			assert.NotContains(t, err.Error(), "hunter2")
			got.Err = nil
			assert.Equal(t, c.want, got)
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	h, err := export.NewCollector(export.HTTPConfig{URL: server.URL + "/hunter2"})
	require.NoError(t, err)
	err = h.Export(t.Context(), spans(1))
	require.ErrorContains(t, err, "connection failed")
	assert.NotContains(t, err.Error(), "hunter2")
}

// TestHTTPConfig: mistakes are errors that quote nothing.
func TestHTTPConfig(t *testing.T) {
	for _, bad := range []export.HTTPConfig{
		{},
		{URL: "hunter2.example"},
		{URL: "ftp://hunter2.example"},
		{URL: "https://u:hunter2@x.example"},
		{URL: "https://x.example/#hunter2"},
		{URL: "http://hunter2 x/"},
		{URL: "https://x.example", Headers: map[string]router.Secret{"a b": "hunter2"}},
		{URL: "https://x.example", Headers: map[string]router.Secret{"a": "hunter2\r\nb: c"}},
	} {
		for _, open := range []func(export.HTTPConfig) (*export.HTTP, error){export.NewWebhook, export.NewCollector} {
			_, err := open(bad)
			require.ErrorIs(t, err, export.ErrConfig)
			assert.NotContains(t, err.Error(), "hunter2")
		}
	}
}

// TestAFile has a batch on every line.
func TestAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traces.jsonl")
	for range 2 { // a second process appends
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		to := export.NewFile(f, "")
		require.NoError(t, to.Export(t.Context(), spans(2)))
		require.NoError(t, to.Export(t.Context(), spans(1)))
		require.NoError(t, f.Close())
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 1, 2, 1}, spansByLine(data))
}

// spansByLine counts the spans of each line that is whole.
func spansByLine(data []byte) (list []int) {
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var line struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []json.RawMessage }
			}
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && len(line.ResourceSpans) > 0 {
			list = append(list, len(line.ResourceSpans[0].ScopeSpans[0].Spans))
		}
	}
	return list
}

// disk has room for so many bytes.
type disk struct {
	bytes.Buffer

	room int
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	_, _ = d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestAFullDiskBreaksOneLine: what is written later stands on lines of its own.
func TestAFullDiskBreaksOneLine(t *testing.T) {
	d := &disk{room: 700}
	to := export.NewFile(d, "")
	require.NoError(t, to.Export(t.Context(), spans(1)))
	require.ErrorIs(t, to.Export(t.Context(), spans(2)), syscall.ENOSPC)
	require.ErrorIs(t, to.Export(t.Context(), spans(2)), syscall.ENOSPC)
	assert.Zero(t, d.room, "the second line is torn")
	d.room = 1 << 20
	require.NoError(t, to.Export(t.Context(), spans(3)))
	require.NoError(t, to.Export(t.Context(), spans(4)))
	assert.Equal(t, []int{1, 3, 4}, spansByLine(d.Bytes()))
}
