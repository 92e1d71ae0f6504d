package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// sink is a ResponseWriter that costs nothing itself.
type sink struct {
	header http.Header
	status int
	size   int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { s.size = len(b); return len(b), nil }

// ready is a provider that returns a prepared reply at once.
type ready struct{ reply router.Reply }

func (p *ready) Decide(context.Context, router.Attempt) (router.Reply, error) { return p.reply, nil }

// kilobyte returns the sound request with a state that makes it 1 KB long.
func kilobyte() string {
	return strings.Replace(sound, "Paid twice for May", "Paid twice for May. "+strings.Repeat("Words. ", (1024-len(sound))/7), 1)
}

// BenchmarkDecide measures a request from the mux of the embedding program to the
// written reply. The provider costs nothing.
func BenchmarkDecide(b *testing.B) {
	body := []byte(kilobyte())
	q, err := systemone.Decoder{}.Decode(body)
	require.NoError(b, err)
	provider := &ready{answer(q)}
	g := newRig(b, quiet, func(_ *httpapi.Config, c *router.Config) { c.Catalog = newCatalog(b, provider, provider) })
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", http.StripPrefix("/api/v1", g.handler))
	for name, header := range map[string]string{"plain": "", "metadata": "enabled"} {
		b.Run(name, func(b *testing.B) {
			r := g.request(b, http.MethodPost, "/api/v1/systemone", "", "inference")
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("X-Router-Metadata", header)
			reader := bytes.NewReader(body)
			r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				reader.Reset(body)
				w := sink{header: http.Header{}}
				mux.ServeHTTP(&w, r)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkRemembered is BenchmarkDecide where every answer is remembered: the sound
// request, and ten questions in 2 KB.
func BenchmarkRemembered(b *testing.B) {
	var ten []string
	for i := range 10 {
		ten = append(ten, fmt.Sprintf(`"q%d":{"type":"noul","instructions":"Is this ticket about subject number %d of the list, and is it urgent?",`+
			`"criteria":{"true":"the customer says so","false":"anything else"}}`, i, i))
	}
	body := kilobyte()
	from, to := strings.Index(body, `"questions":{`), strings.LastIndex(body, "}}")
	require.Positive(b, from)
	for name, body := range map[string]string{
		"sound": body,
		"ten":   body[:from] + `"questions":{` + strings.Join(ten, ",") + body[to:],
	} {
		b.Run(name, func(b *testing.B) {
			q, err := systemone.Decoder{}.Decode([]byte(body))
			require.NoError(b, err)
			provider := &ready{answer(q)}
			g := newRig(b, quiet, func(_ *httpapi.Config, c *router.Config) {
				c.Catalog, c.Remember = newCatalog(b, provider, provider), &router.Remembering{}
			})
			r := g.request(b, http.MethodPost, "/systemone", "", "inference")
			reader := strings.NewReader(body)
			r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
			b.ReportAllocs()
			for b.Loop() {
				reader.Reset(body)
				w := sink{header: http.Header{}}
				g.handler.ServeHTTP(&w, r)
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkHandlerAlone leaves out the router: an interceptor answers. What remains is
// authentication, decoding and the reply, at each door.
func BenchmarkHandlerAlone(b *testing.B) {
	words := strings.Replace(soundDecision, "Paid twice for May", "Paid twice for May. "+strings.Repeat("Words. ", (1024-len(soundDecision))/7), 1)
	b.Run("systemone", func(b *testing.B) { benchmarkHandler(b, "/systemone", []byte(kilobyte())) })
	b.Run("decisions", func(b *testing.B) { benchmarkHandler(b, "/decisions", []byte(words)) })
}

func benchmarkHandler(b *testing.B, path string, body []byte) {
	b.Helper()
	var result *router.Result
	g := newRig(b, quiet, intercept(func(next router.Decider) router.Decider {
		return func(ctx context.Context, c *router.Call) (*router.Result, error) {
			if result == nil {
				res, err := next(ctx, c)
				result = res
				return res, err
			}
			return result, nil
		}
	}))
	r := g.request(b, http.MethodPost, path, "", "inference")
	reader := bytes.NewReader(body)
	r.Body, r.ContentLength = io.NopCloser(reader), int64(len(body))
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(body)
		w := sink{header: http.Header{}}
		g.handler.ServeHTTP(&w, r)
		if w.status != http.StatusOK {
			b.Fatal(w.status)
		}
	}
}

func BenchmarkRefusal(b *testing.B) {
	g := newRig(b, quiet)
	for _, path := range []string{"/systemone", "/nothing"} {
		b.Run(path[1:], func(b *testing.B) {
			r := g.request(b, http.MethodPost, path, "", "unknown")
			b.ReportAllocs()
			for b.Loop() {
				w := sink{header: http.Header{}}
				g.handler.ServeHTTP(&w, r)
			}
		})
	}
}

func BenchmarkModels(b *testing.B) {
	g := newRig(b, quiet)
	r := g.request(b, http.MethodGet, "/models", "", "")
	b.ReportAllocs()
	for b.Loop() {
		w := sink{header: http.Header{}}
		g.handler.ServeHTTP(&w, r)
	}
}
