package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

var (
	bodies     = flag.Int("bodies", 20_000, "random bodies that TestRandomBodies sends")
	bodiesSeed = flag.Uint64("bodies-seed", 1, "seed of the random bodies")
)

// quiet keeps the log of a rig out of memory.
func quiet(c *httpapi.Config, _ *router.Config) { c.Logger = slog.New(slog.DiscardHandler) }

// mutator makes bodies out of sound ones. Most of them are nearly sound, because
// decoders fail on such bodies most often.
type mutator struct {
	*rand.Rand
	corpus [][]byte
}

// tokens are valid and invalid fragments of JSON and of the interface.
var tokens = []string{
	`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, `null`, `true`, `0`, `-0`, `1e400`, `-1`, `1.5`, `""`, `"a"`, `\u0000`, `\ud800`, "\xff", "\x00", " ", "\n",
	`"model"`, `"models"`, `"state"`, `"questions"`, `"provider"`, `"type"`, `"criteria"`, `"instructions"`, `"noul"`, `"choice"`, `"score"`, `"acme/judge"`,
	`"order":[`, `"only":`, `"max_price":{"prompt":`, `"sort":`, `"trace":`, `"session_id":`, `"user":`, `"preset":"x"`, `{"a":`, `[[[[[[[[`, "é", "\u2028",
}

func (m mutator) body() []byte {
	b := bytes.Clone(m.pick())
	for range m.IntN(6) {
		b = m.mutate(b)
	}
	return b
}

func (m mutator) pick() []byte { return m.corpus[m.IntN(len(m.corpus))] }

func (m mutator) mutate(b []byte) []byte {
	from, to := m.IntN(len(b)+1), m.IntN(len(b)+1)
	from, to = min(from, to), max(from, to)
	switch m.IntN(8) {
	case 0: // cut out
		return append(b[:from:from], b[to:]...)
	case 1: // repeat a part
		return append(b[:to:to], b[from:]...)
	case 2: // flip a byte
		if len(b) > 0 {
			b[m.IntN(len(b))] = byte(m.Uint32())
		}
		return b
	case 3, 4: // put a token in
		return append(b[:from:from], append([]byte(tokens[m.IntN(len(tokens))]), b[from:]...)...)
	case 5: // put a token in the place of a value
		return append(b[:from:from], append([]byte(tokens[m.IntN(len(tokens))]), b[to:]...)...)
	case 6: // splice two bodies
		other := m.pick()
		return append(b[:from:from], other[m.IntN(len(other)):]...)
	default: // any bytes at all
		noise := make([]byte, m.IntN(40))
		for i := range noise {
			noise[i] = byte(m.Uint32())
		}
		return slices.Concat(b[:from], noise, b[from:])
	}
}

// TestRandomBodies sends -bodies random bodies through the handler: none may
// make it panic or answer with a 5xx.
func TestRandomBodies(t *testing.T) {
	g := newRig(t, quiet)
	m := mutator{Rand: rand.New(rand.NewPCG(*bodiesSeed, 0))}
	for _, body := range requests {
		m.corpus = append(m.corpus, []byte(body))
	}
	counts := map[int]int{}
	for i := range *bodies {
		body := m.body()
		h := http.Handler(g.handler)
		if i%2 == 1 {
			h = g.native
		}
		status := send(t, g, h, body)
		if counts[status]++; status >= 500 {
			require.Less(t, status, 500, "seed %d, body %d: %q", *bodiesSeed, i, body)
		}
		g.ant.seen, g.bee.seen = g.ant.seen[:0], g.bee.seen[:0]
	}
	t.Logf("%d bodies: %v", *bodies, counts)
	assert.NotZero(t, counts[200], "some bodies are sound")
	assert.NotZero(t, counts[400], "most are not")
	assert.NotContains(t, counts, 0)
}

// send returns the status of the reply to a body. It also checks that the reply is
// complete JSON.
func send(tb testing.TB, g *rig, h http.Handler, body []byte) int {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/systemone", bytes.NewReader(body))
	r.Header.Set("X-Api-Key", string(g.keys["inference"]))
	r.Header.Set("X-Router-Metadata", "enabled")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" {
		tb.Fatalf("body %q: the reply is broken: %d %q", body, w.Code, w.Body)
	}
	if w.Code != http.StatusOK && !strings.HasPrefix(w.Body.String(), `{"error":{"code":`) {
		tb.Fatalf("body %q: the error has no envelope: %d %q", body, w.Code, w.Body)
	}
	return w.Code
}

func FuzzHandler(f *testing.F) {
	for _, body := range requests {
		f.Add([]byte(body), "/systemone", "application/json", "")
	}
	f.Add([]byte(sound), "/models/acme/judge/endpoints", "text/plain", "a\r\nb")
	f.Add([]byte(sound), "/models?limit=%zz&offset=-1", "application/json;x", "x")
	g := newRig(f, quiet)
	f.Fuzz(func(t *testing.T, body []byte, path, contentType, header string) {
		for _, h := range []http.Handler{g.handler, g.native} {
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				r := httptest.NewRequestWithContext(t.Context(), method, "/", io.NopCloser(bytes.NewReader(body)))
				r.RequestURI = path
				r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
				r.Header = http.Header{
					"X-Api-Key": {string(g.keys["inference"])}, "Content-Type": {contentType},
					"X-Session-Id": {header}, "X-Request-Id": {header}, "X-Router-Metadata": {header},
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				g.ant.seen, g.bee.seen = nil, nil
				if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
					t.Fatalf("%s %q: %d %s", method, path, w.Code, w.Body)
				}
				if id := w.Header().Get("X-Request-Id"); strings.ContainsAny(id, "\r\n ") || id == "" {
					t.Fatalf("request id %q", id)
				}
			}
		}
	})
}
