package geminidecisions_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// BenchmarkDecide is the client's own work for three questions; the transport
// in memory is in it.
func BenchmarkDecide(b *testing.B) {
	data, err := os.ReadFile("testdata/answer.http")
	require.NoError(b, err)
	_, reply, _ := bytes.Cut(data, []byte("\n\n"))
	c := client(b, memory{reply})
	a := router.Attempt{Request: request(), Model: "gemini-decision-1", RequestID: "req-1"}
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
