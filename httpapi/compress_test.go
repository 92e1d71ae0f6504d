package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// zipped returns text as one gzip member.
func zipped(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(tb, err)
	require.NoError(tb, w.Close())
	return b.String()
}

// stored returns text as one gzip member without compression.
func stored(tb testing.TB, text string) string {
	tb.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	require.NoError(tb, err)
	_, err = io.WriteString(w, text)
	require.NoError(tb, err)
	require.NoError(tb, w.Close())
	return b.String()
}

// byByte is a reader that returns one byte at a time.
type byByte struct{ io.Reader }

func (d byByte) Read(p []byte) (int, error) { return d.Reader.Read(p[:min(1, len(p))]) }

func TestGzipBodies(t *testing.T) {
	whole := zipped(t, sound)
	half := len(sound) / 2
	longest := sized(int64(len(sound)))
	spaces := func(n int) string { return sound + strings.Repeat(" ", n) }
	for name, c := range map[string]struct {
		body    string
		coding  string // default gzip
		options []option
		status  int
		says    string // part of the issue
	}{
		"plain":                     {body: whole, status: 200},
		"x-gzip":                    {body: whole, coding: "x-gzip", status: 200},
		"with identity":             {body: whole, coding: "identity, GZIP,", status: 200},
		"two members":               {body: zipped(t, sound[:half]) + zipped(t, sound[half:]), status: 200},
		"empty members":             {body: zipped(t, "") + whole + zipped(t, ""), status: 200},
		"after a byte order mark":   {body: zipped(t, "\ufeff"+sound), status: 200},
		"at the limit":              {body: whole, options: []option{longest}, status: 200},
		"at the limit, not smaller": {body: stored(t, sound), options: []option{longest}, status: 200},
		"over the limit":            {body: zipped(t, sound+" "), options: []option{longest}, status: 413},
		"over the limit by far":     {body: zipped(t, spaces(20*len(sound))), options: []option{longest}, status: 413},
		"more than it may be":       {body: strings.Repeat(zipped(t, ""), 200_000), options: []option{longest}, status: 413},
		"blocks of nothing":         {body: stored(t, sound)[:10] + strings.Repeat("\x00\x00\x00\xff\xff", 1<<20), options: []option{longest}, status: 413},
		"a bomb":                    {body: zipped(t, spaces(4<<20-len(sound))), status: 400, says: "100 times"},
		"a bomb of two members":     {body: zipped(t, sound[:half]) + zipped(t, sound[half:]+strings.Repeat(" ", 1<<20)), status: 400, says: "100 times"},
		"a bomb in a bomb":          {body: zipped(t, zipped(t, spaces(1<<20))), coding: "gzip, gzip", status: 400, says: "once"},
		"a small bomb":              {body: zipped(t, spaces(100_000)), status: 400, says: "100 times"},
		"text that shrinks well":    {body: zipped(t, strings.Replace(sound, "Paid", strings.Repeat("Paid", 4_000), 1)), status: 200},
		"trailing garbage":          {body: whole + "garbage, and more of it", status: 400, says: "gzip"},
		"trailing zeros":            {body: whole + strings.Repeat("\x00", 40), status: 400, says: "gzip"},
		"cut":                       {body: whole[:len(whole)-1], status: 400, says: "its end"},
		"cut in the middle":         {body: whole[:len(whole)/2], status: 400, says: "its end"},
		"cut in the head":           {body: whole[:5], status: 400, says: "its end"},
		"a second member cut":       {body: whole + whole[:9], status: 400, says: "its end"},
		"a wrong sum":               {body: whole[:len(whole)-8] + "12345678", status: 400, says: "gzip"},
		"a broken block":            {body: whole[:10] + "\xff\xff\xff\xff" + whole[14:], status: 400, says: "gzip"},
		"nothing":                   {body: "", status: 400, says: "its end"},
		"nothing inside":            {body: zipped(t, ""), status: 400},
		"not gzip":                  {body: sound, status: 400, says: "gzip"},
		"not said":                  {body: whole, coding: "identity", status: 400},
		"deflate":                   {body: whole, coding: "deflate", status: 400, says: "gzip"},
		"br":                        {body: whole, coding: "gzip, br", status: 400, says: "gzip"},
		"no room":                   {body: whole, options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 50 << 10 }}, status: 503},
	} {
		g := newRig(t, c.options...)
		for how, length := range map[string]int64{"": int64(len(c.body)), ", of unknown length": -1} {
			r := g.request(t, http.MethodPost, "/systemone", "", "inference")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(c.body)), length
			if len(c.body) < 10_000 {
				r.Body = io.NopCloser(byByte{strings.NewReader(c.body)})
			}
			r.Header.Set("Content-Encoding", orText(c.coding, "gzip"))
			w := g.serve(t, g.handler, r)
			assert.Equal(t, c.status, w.Code, "%s%s: %.300s", name, how, w.Body)
			if c.says != "" {
				assert.Contains(t, at(t, w.Body.Bytes(), "error.metadata.issues.0.message"), c.says, name+how)
			}
			assert.Zero(t, httpapi.InFlight(g.handler), name)
		}
	}
}

// TestGzipBodiesAreBoundedInMemory: a decompression bomb holds at most the bytes
// received times the ratio, not its decompressed size.
func TestGzipBodiesAreBoundedInMemory(t *testing.T) {
	g := newRig(t, quiet, sized(1<<30), func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 1 << 20 })
	bomb := zipped(t, strings.Repeat(" ", 16<<20))
	r := g.request(t, http.MethodPost, "/systemone", bomb, "inference")
	r.Header.Set("Content-Encoding", "gzip")
	w := g.serve(t, g.handler, r)
	assert.Equal(t, http.StatusBadRequest, w.Code, w.Body)
}

// long is a path whose reply has a few kilobytes.
const long = "/models/acme/judge/endpoints"

func TestRepliesAreCompressedWhereAsked(t *testing.T) {
	g := newRig(t)
	plain := g.serve(t, g.handler, g.request(t, http.MethodGet, long, "", ""))
	require.Greater(t, plain.Body.Len(), 1<<10)
	for accept, want := range map[string]bool{
		"":                              false,
		"gzip":                          true,
		"GZIP":                          true,
		"x-gzip":                        true,
		"gzip, deflate, br":             true,
		"br;q=1.0, gzip;q=0.8, *;q=0.1": true,
		"deflate, gzip;q=1.0, *;q=0.5":  true,
		"*":                             true,
		"*;q=0.3":                       true,
		"*;q=0":                         false,
		"gzip;q=0":                      false,
		"gzip;q=0.000":                  false,
		"gzip; q = 0.001":               true,
		"gzip;q=0, *":                   false,
		"identity":                      false,
		"identity, gzip;q=0.5":          false,
		"identity;q=0.5, gzip":          true,
		"identity;q=0, gzip":            true,
		"br":                            false,
		"gzipp":                         false,
		"gzip;q=2":                      false,
		"gzip;q=-1":                     false,
		"gzip;q=NaN":                    false,
		"gzip;q=":                       false,
		"gzip;x=1":                      false,
		",,gzip,,":                      true,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			r := g.request(t, method, long, "", "")
			r.Header.Set("Accept-Encoding", accept)
			w := httptest.NewRecorder()
			g.handler.ServeHTTP(w, r)
			assert.Equal(t, "Accept-Encoding", w.Header().Get("Vary"), accept)
			assert.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"), accept)
			if !want {
				assert.Empty(t, w.Header().Get("Content-Encoding"), accept)
				assert.Equal(t, plain.Body.String(), w.Body.String(), accept)
				continue
			}
			assert.Equal(t, "gzip", w.Header().Get("Content-Encoding"), accept)
			assert.Less(t, w.Body.Len(), plain.Body.Len()/2)
			z, err := gzip.NewReader(w.Body)
			require.NoError(t, err)
			text, err := io.ReadAll(z)
			require.NoError(t, err)
			assert.Equal(t, plain.Body.String(), string(text), accept)
		}
	}
	r := g.request(t, http.MethodGet, long, "", "")
	r.Header["Accept-Encoding"] = []string{"br", "gzip"}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	assert.Equal(t, "gzip", w.Header().Get("Content-Encoding"), "two lines are one list")
}

// TestDecisionsAreNotCompressed, whatever their length. Small replies are not
// compressed either.
func TestDecisionsAreNotCompressed(t *testing.T) {
	g := newRig(t)
	r := g.request(t, http.MethodPost, "/systemone", sound, "inference")
	r.Header.Set("X-Router-Metadata", "enabled")
	r.Header.Set("Accept-Encoding", "gzip")
	w := g.serve(t, g.handler, r)
	assert.Equal(t, http.StatusOK, w.Code)
	require.Greater(t, w.Body.Len(), 1<<10)
	assert.NotContains(t, w.Header(), "Content-Encoding")
	assert.NotContains(t, w.Header(), "Vary")

	r = g.request(t, http.MethodGet, "/models/count", "", "")
	r.Header.Set("Accept-Encoding", "gzip")
	w = g.serve(t, g.handler, r)
	assert.NotContains(t, w.Header(), "Content-Encoding")
	assert.Equal(t, "Accept-Encoding", w.Header().Get("Vary"), "a longer list would be compressed")
}

// TestARealClientReadsCompressedReplies over a connection. HEAD returns the same
// headers as GET.
func TestARealClientReadsCompressedReplies(t *testing.T) {
	g := newRig(t)
	server := httptest.NewServer(g.handler)
	defer server.Close()
	get := func(method, accept string) (http.Header, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+long+"/", http.NoBody)
		require.NoError(t, err)
		if accept != "" {
			r.Header.Set("Accept-Encoding", accept)
		}
		resp, err := server.Client().Do(r)
		require.NoError(t, err)
		defer func() { assert.NoError(t, resp.Body.Close()) }()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.Header, body
	}
	header, body := get(http.MethodGet, "") // Go's client asks for gzip and decompresses it by itself
	assert.NotContains(t, header, "Content-Length")
	assert.Equal(t, "acme/judge", at(t, body, "data.id"))
	header, body = get(http.MethodHead, "gzip")
	assert.Empty(t, body)
	assert.Equal(t, "gzip", header.Get("Content-Encoding"))
	_, body = get(http.MethodGet, "gzip")
	assert.Equal(t, strconv.Itoa(len(body)), header.Get("Content-Length"))
}

func BenchmarkList(b *testing.B) {
	g := newRig(b, quiet)
	for _, accept := range []string{"identity", "gzip"} {
		b.Run(accept, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := g.request(b, http.MethodGet, long, "", "")
				r.Header.Set("Accept-Encoding", accept)
				w := httptest.NewRecorder()
				g.handler.ServeHTTP(w, r)
				b.ReportMetric(float64(w.Body.Len()), "bytes")
			}
		})
	}
}
