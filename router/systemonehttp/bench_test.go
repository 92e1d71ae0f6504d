package systemonehttp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/routertest"
	"github.com/signalbox/signalbox/router/systemonehttp"
	"github.com/signalbox/signalbox/systemone"
)

// memory is the cheapest transport: it drains the request and answers with
// fixed bytes.
type memory struct{ reply []byte }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	if err := r.Body.Close(); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, ContentLength: int64(len(m.reply)), Body: io.NopCloser(bytes.NewReader(m.reply)),
	}, nil
}

// BenchmarkDecide is the client's work for a request of 1 KB with three questions,
// including the transport's bytes and allocations.
func BenchmarkDecide(b *testing.B) {
	r := request()
	r.State = json.RawMessage(`{"ticket":"` + strings.Repeat("Paid twice for May. ", 40) + `"}`)
	reply := (&systemone.Response{ID: "gen-dec-1", Model: "m", Answers: routertest.Answers(r)}).AppendJSON(nil)
	for _, p := range systemonehttp.Profiles() {
		b.Run(p.Name, func(b *testing.B) {
			body := reply
			if p.Envelope.Result != "" {
				body = append(append([]byte(`{"result":`), reply...), `,"success":true}`...)
			}
			c, err := systemonehttp.New(systemonehttp.Config{
				BaseURL: "https://api.example.com/v1", APIKey: "sk-1", Profile: p, HTTP: &http.Client{Transport: memory{body}},
			})
			require.NoError(b, err)
			a := router.Attempt{Request: r, Model: "judge-1", RequestID: "req-1", User: "u-1"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Decide(b.Context(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTransport is BenchmarkDecide without the client.
func BenchmarkTransport(b *testing.B) {
	r := request()
	body := systemone.AppendUpstream(nil, "judge-1", r)
	m := memory{(&systemone.Response{Answers: routertest.Answers(r)}).AppendJSON(nil)}
	b.ReportAllocs()
	for b.Loop() {
		q, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "https://api.example.com/v1/systemone", bytes.NewReader(body))
		require.NoError(b, err)
		resp, err := m.RoundTrip(q)
		require.NoError(b, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(b, err)
		require.NoError(b, resp.Body.Close())
	}
}

// BenchmarkLoopback compares the client with its transport alone over a real
// connection, as a bare proxy would use it.
func BenchmarkLoopback(b *testing.B) {
	r := request()
	reply := (&systemone.Response{ID: "gen-dec-1", Model: "m", Answers: routertest.Answers(r)}).AppendJSON(nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		_, _ = w.Write(reply)
	}))
	defer server.Close()
	b.Run("client", func(b *testing.B) {
		c, err := systemonehttp.New(systemonehttp.Config{BaseURL: server.URL, APIKey: "sk-1"})
		require.NoError(b, err)
		a := router.Attempt{Request: r, Model: "judge-1", RequestID: "req-1"}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Decide(b.Context(), a); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("transport", func(b *testing.B) {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		body := systemone.AppendUpstream(nil, "judge-1", r)
		b.ReportAllocs()
		for b.Loop() {
			q, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/systemone", bytes.NewReader(body))
			require.NoError(b, err)
			resp, err := transport.RoundTrip(q)
			require.NoError(b, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
		}
	})
}
