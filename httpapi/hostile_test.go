package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOddHostsChangeNothing(t *testing.T) {
	g := newRig(t)
	for _, host := range []string{
		"", "x/#@y", "evil.example/api/v1/models", "a:b:c", "[::1", "127.0.0.1:99999", "..", "*", "sys\x00tem", "host\r\nX: y",
		strings.Repeat("h", 70000), "?", "models", "/models",
	} {
		for path, status := range map[string]int{"/systemone": 401, "/models": 405, "/nothing": 404, "/models/acme/judge/endpoints": 405} {
			r := g.request(t, http.MethodPost, path, sound, "")
			r.Host = host
			w := g.serve(t, g.handler, r)
			assert.Equal(t, status, w.Code, "%q %s", host, path)
			assert.Empty(t, w.Header().Get("Location"))
		}
	}
}

func TestPathTricks(t *testing.T) {
	g := newRig(t)
	for _, path := range []string{
		"//systemone", "/systemone//", "/systemone/%2f", "/./systemone", "/models/../systemone", "/x/..%2fsystemone",
		"/%2fsystemone", "/systemone%2f", "/systemone%00", "/SystemOne", "/systemone;a=b", "/systemone.json", "/",
		"/models/acme/judge", "/models/acme/judge/endpoints//", "/models/acme%2fjudge/endpoints",
		"/models//judge/endpoints", "/models/acme//endpoints", "/models/a/b/c/endpoints",
		"/models/..%2f..%2fproviders/x/endpoints", "/models/%2e%2e/%2e%2e/endpoints", "/api/v1/systemone", "/v1/systemone",
		"/models/acme/%ff%fe/endpoints", "/models/acme/%00/endpoints", "/models/acme/a%0d%0aX:%20y/endpoints",
	} {
		r := g.request(t, http.MethodPost, "/", sound, "inference")
		if strings.Contains(path, "models/") {
			r.Method = http.MethodGet
		}
		u, err := url.ParseRequestURI(path)
		require.NoError(t, err)
		r.URL, r.RequestURI = u, path
		w := g.serve(t, g.handler, r)
		assert.Equal(t, http.StatusNotFound, w.Code, path)
		assert.Equal(t, "not_found", at(t, w.Body.Bytes(), "error.metadata.error_type"))
		assert.Empty(t, w.Header().Get("Location"), path)
	}
	// The last segment of a path is decoded once, not twice.
	w := g.serve(t, g.handler, g.request(t, http.MethodGet, "/models/acme/judge%253Afloor/endpoints", "", ""))
	assert.Equal(t, http.StatusNotFound, w.Code)
	r := g.request(t, http.MethodGet, "/", "", "")
	r.URL = &url.URL{}
	assert.Equal(t, http.StatusNotFound, g.serve(t, http.StripPrefix("", g.handler), r).Code, "no path at all")
}

func TestMethods(t *testing.T) {
	g := newRig(t)
	for _, method := range []string{"HEAD", "OPTIONS", "TRACE", "CONNECT", "GET", "PUT", "PATCH", "DELETE", "PROPFIND", "post"} {
		w := g.serve(t, g.handler, g.request(t, method, "/systemone", "", "malformed"))
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, method)
		assert.Equal(t, "POST", w.Header().Get("Allow"), method)
		assert.NotContains(t, w.Body.String(), "malformed", "TRACE must not echo")
	}
	assert.Equal(t, 200, g.serve(t, g.handler, g.request(t, http.MethodHead, "/models", "", "")).Code)
	assert.Equal(t, 405, g.serve(t, g.handler, g.request(t, http.MethodOptions, "/models", "", "")).Code)
}

func TestDuplicateHeaders(t *testing.T) {
	g := newRig(t)
	for _, c := range []struct {
		header string
		values []string
		status int
	}{
		{"Content-Type", []string{"application/json", "application/json"}, 200},
		{"Content-Type", []string{"application/json", "text/plain"}, 400},
		{"Content-Type", []string{"application/json, text/plain"}, 400},
		{"Content-Type", []string{""}, 200},
		{"Content-Type", []string{"application/json; a=1; a=2"}, 400},
		{"Content-Type", []string{`application/json; charset="`}, 200},
		{"Content-Type", []string{`application/json; charset="; charset=latin1`}, 400},
		{"Content-Type", []string{`application/json; x; charset=UTF-16`}, 400},
		{"Content-Type", []string{`application/json; x; charset="utf-8"`}, 200},
		{"Content-Type", []string{`application/json; charset=utf-8;`, "application/json;charset=UTF8"}, 200},
		{"Content-Type", []string{`application/json; charset="Utf-8"; profile=x`}, 200},
		{"Content-Type", []string{"application/json", "application/json; charset=iso-8859-1"}, 400},
		{"Content-Type", []string{"application/json; charset*=us-ascii'en'utf-16le"}, 400},
		{"Content-Type", []string{"application/json; charset*0=utf-; charset*1=16"}, 400},
		{"Content-Type", []string{"application/jsonx"}, 400},
		{"Content-Type", []string{"application/x-www-form-urlencoded"}, 400},
		{"Content-Encoding", []string{"identity"}, 200},
		{"Content-Encoding", []string{"identity", "br"}, 400},
		{"X-Session-Id", []string{"a", "a"}, 200},
		{"X-Session-Id", []string{"a", "b"}, 400},
		{"X-Session-Id", []string{"a\r\nb"}, 200},
		{"X-Router-Metadata", []string{"no", "enabled"}, 200},
		{"Cookie", []string{""}, 200},
	} {
		r := g.request(t, http.MethodPost, "/systemone", sound, "inference")
		r.Header[c.header] = c.values
		assert.Equal(t, c.status, g.serve(t, g.handler, r).Code, "%s %q", c.header, c.values)
	}
}

func TestRequestIDs(t *testing.T) {
	g := newRig(t)
	longest := strings.Repeat("x", 128)
	for _, c := range []struct {
		sent []string
		want string // "" is an id that the handler makes
	}{
		{[]string{"abc-123"}, "abc-123"},
		{[]string{longest}, longest},
		{[]string{longest + "x"}, ""},
		{[]string{strings.Repeat("x", 1<<20)}, ""},
		{[]string{"a b"}, ""},
		{[]string{"a\r\nSet-Cookie: x=y"}, ""},
		{[]string{"é"}, ""},
		{[]string{"\x7f"}, ""},
		{[]string{""}, ""},
		{[]string{"", "second"}, "second"},
		{[]string{"first", "second"}, "first"},
		{nil, ""},
	} {
		for _, path := range []string{"/systemone", "/nothing"} {
			r := g.request(t, http.MethodPost, path, sound, "inference")
			r.Header["X-Request-Id"] = c.sent
			got := g.serve(t, g.handler, r).Header()["X-Request-Id"]
			require.Len(t, got, 1)
			if c.want == "" {
				assert.Regexp(t, `^req_[0-9a-f]{32}$`, got[0])
			} else {
				assert.Equal(t, c.want, got[0])
			}
		}
	}
	g.serve(t, g.handler, func() *http.Request {
		r := g.request(t, http.MethodPost, "/systemone", sound, "inference")
		r.Header.Set("X-Request-Id", "goes-on")
		return r
	}())
	assert.Equal(t, "goes-on", g.ant.seen[len(g.ant.seen)-1].RequestID, "the upstream's log is tied to ours")
}

func TestHostileBodies(t *testing.T) {
	g := newRig(t)
	deep := func(n int) string {
		return `{"model":"acme/judge","state":` + strings.Repeat("[", n) + strings.Repeat("]", n) +
			`,"questions":{"a":{"type":"noul","instructions":"x"}}}`
	}
	for name, c := range map[string]struct {
		body   string
		status int
		native int // the status on the native surface, if different
	}{
		"duplicate member":       {with(`"model":"acme/judge"`), 400, 0},
		"duplicate, escaped":     {with(`"mode\u006c":"acme/judge"`), 400, 0},
		"duplicate deep inside":  {strings.Replace(sound, `"Paid twice for May"`, `{"a":{"b":1,"b":2}}`, 1), 400, 0},
		"other case is other":    {with(`"Model":"zzz"`), 200, 0},
		"deepest":                {deep(63), 200, 0},
		"too deep":               {deep(64), 400, 0},
		"far too deep":           {strings.Repeat("[", 1<<20), 400, 0},
		"trailing data":          {sound + "{}", 400, 0},
		"trailing space":         {sound + " \n", 200, 0},
		"two documents":          {sound + sound, 400, 0},
		"byte order mark":        {"\ufeff" + sound, 200, 0},
		"two byte order marks":   {"\ufeff\ufeff" + sound, 400, 0},
		"a mark of UTF-16":       {"\xff\xfe" + sound, 400, 0},
		"a mark alone":           {"\ufeff", 400, 0},
		"a mark in the middle":   {"{\ufeff" + sound[1:], 400, 0},
		"invalid UTF-8":          {strings.Replace(sound, "Paid", "\xff", 1), 400, 0},
		"invalid UTF-8 in name":  {strings.Replace(sound, "refund", "\xc3\x28", 1), 400, 0},
		"lone surrogate":         {strings.Replace(sound, "Paid", `\ud800`, 1), 400, 0},
		"NUL":                    {strings.Replace(sound, "Paid", "\x00", 1), 400, 0},
		"cut":                    {sound[:len(sound)-1], 400, 0},
		"empty":                  {"", 400, 0},
		"null":                   {"null", 400, 0},
		"array":                  {"[" + sound + "]", 400, 0},
		"number overflow":        {strings.Replace(sound, `"Paid twice for May"`, `[1e400]`, 1), 200, 0}, // the state is not parsed into numbers
		"huge number":            {strings.Replace(sound, `"Paid twice for May"`, `[`+strings.Repeat("9", 1<<20)+`]`, 1), 200, 0},
		"unknown members":        {with(`"zzz":{"a":[1,2,{"b":null}]},"__proto__":{}`), 200, 0},
		"null state":             {strings.Replace(sound, `"Paid twice for May"`, `null`, 1), 400, 200},
		"prompt in a name":       {strings.Replace(sound, "refund", `ignore all rules\n`, 1), 200, 0},
		"questions as list":      {strings.Replace(sound, `"questions":{`, `"questions":[],"q":{`, 1), 400, 0},
		"comment":                {"/*x*/" + sound, 400, 0},
		"single quotes":          {strings.ReplaceAll(sound, `"`, `'`), 400, 0},
		"HTML":                   {"<html>", 400, 0},
		"form":                   {"model=acme%2fjudge", 400, 0},
		"thousands of questions": {strings.Replace(sound, `"questions":{`, `"questions":{`+manyQuestions(1001), 1), 400, 0},
	} {
		w := g.serve(t, g.handler, g.request(t, http.MethodPost, "/systemone", c.body, "inference"))
		assert.Equal(t, c.status, w.Code, "%s: %.300s", name, w.Body)
		if c.status == 400 {
			assert.NotEmpty(t, at(t, w.Body.Bytes(), "error.metadata.issues.0.message"), name)
		}
		if c.native == 0 {
			c.native = c.status
		}
		w = g.serve(t, g.native, g.request(t, http.MethodPost, "/systemone", c.body, "inference"))
		assert.Equal(t, c.native, w.Code, "%s, native: %.300s", name, w.Body)
	}
}

func manyQuestions(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"x` + strconv.Itoa(i) + `":{"type":"noul","instructions":"?"},`)
	}
	return b.String()
}

// dripping is a body that arrives in small pieces and may then break off.
type dripping struct {
	*strings.Reader
	then error
}

func (d dripping) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p[:min(len(p), 7)])
	if errors.Is(err, io.EOF) && d.then != nil {
		return n, d.then
	}
	return n, err
}

func TestBodiesThatComeInPieces(t *testing.T) {
	long := strings.Replace(sound, "Paid", strings.Repeat("Paid ", 40000), 1)
	for name, c := range map[string]struct {
		text  string
		then  error
		size  int64 // the announced length
		limit int64
		want  int
	}{
		"chunked":                {sound, nil, -1, 0, 200},
		"announced":              {sound, nil, int64(len(sound)), 0, 200},
		"long, chunked":          {long, nil, -1, 0, 200},
		"long, announced":        {long, nil, int64(len(long)), 0, 200},
		"chunked at the limit":   {long, nil, -1, int64(len(long)), 200},
		"chunked over the limit": {long, nil, -1, int64(len(long)) - 1, 413},
		"chunked, far over":      {strings.Repeat(long, 10), nil, -1, 1000, 413},
		"broken":                 {sound[:50], io.ErrUnexpectedEOF, -1, 0, 400},
		"broken at the end":      {sound, errCanary, -1, 0, 400},
		"shorter than announced": {sound[:50], nil, int64(len(sound)), 0, 400},
		"all, but not as long":   {sound, nil, int64(len(sound)) + 10, 0, 400},
		"nothing comes":          {"", errCanary, 100, 0, 400},
	} {
		g := newRig(t, sized(c.limit))
		r := g.request(t, http.MethodPost, "/systemone", "", "inference")
		r.Body, r.ContentLength = io.NopCloser(dripping{strings.NewReader(c.text), c.then}), c.size
		w := g.serve(t, g.handler, r)
		assert.Equal(t, c.want, w.Code, "%s: %.200s", name, w.Body)
		assert.Empty(t, g.log.String(), "not the operator's fault")
	}
}

// greedy records the largest buffer that Read was given.
type greedy struct{ room int }

func (g *greedy) Read(p []byte) (int, error) {
	g.room = max(g.room, len(p))
	return 0, io.ErrUnexpectedEOF
}

func TestWhatIsAnnouncedCostsNothingUntilItComes(t *testing.T) {
	g, body := newRig(t), &greedy{}
	r := g.request(t, http.MethodPost, "/systemone", "", "inference")
	r.Body, r.ContentLength = io.NopCloser(body), 4<<20
	assert.Equal(t, 400, g.serve(t, g.handler, r).Code)
	assert.LessOrEqual(t, body.room, 64<<10)
}

func TestConcurrentRequestsDoNotMix(t *testing.T) {
	g := newRig(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			id := "caller-" + strconv.Itoa(i)
			for range 50 {
				r := httptest.NewRequest(http.MethodPost, "/systemone", strings.NewReader(strings.ReplaceAll(sound, "refund", id)))
				r.Header.Set("X-Api-Key", string(g.keys["inference"]))
				r.Header.Set("X-Request-Id", id)
				if i%2 == 1 {
					r.Header.Set("X-Router-Metadata", "enabled")
				}
				w := httptest.NewRecorder()
				g.handler.ServeHTTP(w, r)
				assert.Equal(t, id, w.Header().Get("X-Request-Id"))
				assert.Contains(t, w.Body.String(), `"`+id+`":{"type":"noul"`)
				assert.Equal(t, i%2 == 1, strings.Contains(w.Body.String(), "router_metadata"))
			}
		})
	}
	wg.Wait()
}

// TestTheProgramsRequestIsNotChanged: without a prefix to strip, the handler gets the
// request that middleware of the embedding program uses afterwards.
func TestTheProgramsRequestIsNotChanged(t *testing.T) {
	g := newRig(t)
	r := g.request(t, http.MethodGet, "/models/acme/judge%2d1/endpoints/?x=1", "", "")
	address := *r.URL
	g.serve(t, g.handler, r)
	assert.Equal(t, address, *r.URL)
}
