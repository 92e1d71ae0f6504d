package openaidecisions_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/openaidecisions"
)

// BenchmarkDecide is the client's work for three questions, including an in-memory
// transport.
func BenchmarkDecide(b *testing.B) {
	data, err := os.ReadFile("testdata/answer.http")
	require.NoError(b, err)
	_, reply, _ := bytes.Cut(data, []byte("\n\n"))
	c, err := openaidecisions.New(openaidecisions.Config{
		BaseURL: "https://api.example.com/v1", APIKey: "sk-1", HTTP: &http.Client{Transport: memory{reply}},
	})
	require.NoError(b, err)
	a := router.Attempt{Request: request(), Model: "gpt-6-luna", RequestID: "req-1", User: "u-1"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decide(b.Context(), a); err != nil {
			b.Fatal(err)
		}
	}
}

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
