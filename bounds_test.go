package signalbox_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/systemone"
)

// maxReply is the largest reply of a list.
const maxReply = 8 << 20

// boundedTexts lists every text that a caller can store, with its bound. In a body
// % stands for the text and # for a number that makes the body unique.
var boundedTexts = []struct {
	name, method, path, body string
	most                     int // characters; of a pattern, with its brackets
	ascii                    bool
}{
	{name: "name of a key", method: "POST", path: "/keys", body: `{"name":%}`, most: 200},
	{name: "external user", method: "POST", path: "/keys", body: `{"name":"k","external":{"user":%}}`, most: 256},
	{name: "name of a workspace", method: "POST", path: "/workspaces", body: `{"slug":"w#","name":%}`, most: 100},
	{name: "description of a workspace", method: "POST", path: "/workspaces", body: `{"slug":"d#","name":"w","description":%}`, most: 500},
	{name: "slug of a workspace", method: "POST", path: "/workspaces", body: `{"name":"w","slug":%}`, most: 50, ascii: true},
	{name: "name of a guardrail", method: "POST", path: "/guardrails", body: `{"name":%}`, most: 200},
	{name: "description of a guardrail", method: "POST", path: "/guardrails", body: `{"name":"g","description":%}`, most: 1000},
	{name: "label of a filter", method: "POST", path: "/guardrails", body: `{"name":"g","content_filters":[{"pattern":"x","action":"flag","label":%}]}`, most: 100},
	{name: "allowed model", method: "POST", path: "/guardrails", body: `{"name":"g","allowed_models":[%]}`, most: 256, ascii: true},
	{name: "ignored provider", method: "POST", path: "/guardrails", body: `{"name":"g","ignored_providers":[%]}`, most: 256, ascii: true},
	{name: "name of a credential", method: "POST", path: "/byok", body: `{"provider":"ant","key":"k","name":%}`, most: 200},
	{name: "text of a credential", method: "POST", path: "/byok", body: `{"provider":"ant","key":%}`, most: 4096, ascii: true},
	{name: "model of a credential", method: "POST", path: "/byok", body: `{"provider":"ant","key":"k","allowed_models":[%]}`, most: 1000, ascii: true},
}

// hostile are characters that take more room in a reply than in memory, or in a
// file.
var hostile = []string{"\x01", "\u2028", "😀", `"`}

func TestEveryStoredTextHasABound(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	n := 0
	for _, text := range boundedTexts {
		characters := hostile
		if text.ascii {
			characters = []string{"a"}
		}
		for _, character := range characters {
			ask := func(length int) int {
				n++
				value := string(systemone.AppendString(nil, strings.Repeat(character, length)))
				body := strings.NewReplacer("%", value, "#", strconv.Itoa(n)).Replace(text.body)
				return g.do(t, text.method, text.path, body, g.seeded.Management).Code
			}
			assert.Less(t, ask(text.most), 300, "%s of %d %q", text.name, text.most, character)
			assert.Equal(t, http.StatusBadRequest, ask(text.most+1), "%s of %d %q", text.name, text.most+1, character)
		}
	}
}

// fullLists lists the collections, with how to fill each with 100 rows of the largest
// size.
var fullLists = []struct {
	name, path string
	fill       func(t *testing.T, g *gateway, row int, character string)
	refused    bool // a page of 100 may be too large
}{
	{name: "keys", path: "/keys", fill: func(t *testing.T, g *gateway, _ int, c string) {
		t.Helper()
		g.manage(t, http.MethodPost, "/keys", `{"name":`+filled(c, 200)+`,"external":{"user":`+filled(c, 256)+`}}`)
	}},
	{name: "workspaces", path: "/workspaces", fill: func(t *testing.T, g *gateway, row int, c string) {
		t.Helper()
		g.manage(t, http.MethodPost, "/workspaces", `{"slug":"w`+strconv.Itoa(row)+`","name":`+filled(c, 100)+`,"description":`+filled(c, 500)+`}`)
	}},
	{name: "members", path: "/organization/members", fill: func(t *testing.T, g *gateway, row int, c string) {
		t.Helper()
		_, err := g.Organization.AddMember(t.Context(), demo.Program(), organization.Member{
			ID: strconv.Itoa(row) + strings.Repeat(c, 200/len(c)), Email: "@" + strings.Repeat(c, 300/len(c)), Role: organization.RoleMember,
			FirstName: strings.Repeat(c, 100), LastName: strings.Repeat(c, 100),
		})
		require.NoError(t, err)
	}},
	{name: "versions", path: "/presets/p/versions", fill: func(t *testing.T, g *gateway, _ int, c string) {
		t.Helper()
		one := len("\\u2028") // what a reply writes for either
		g.manage(t, http.MethodPost, "/presets/p/responses", `{"instructions":`+filled(c, (64<<10-8)/one)+`}`)
	}},
	{name: "presets", path: "/presets", fill: func(t *testing.T, g *gateway, row int, c string) {
		t.Helper()
		one := len("\\u2028") // what a reply writes for either
		g.manage(t, http.MethodPost, "/presets/"+strings.Repeat("p", 120)+strconv.Itoa(row)+"/responses", `{"instructions":`+filled(c, (64<<10-8)/one)+`}`)
	}},
	{name: "credentials", path: "/byok", fill: func(t *testing.T, g *gateway, _ int, c string) {
		t.Helper()
		models := strings.Repeat(`"`+strings.Repeat("m", 985)+`",`, 73)
		g.manage(t, http.MethodPost, "/byok", `{"provider":"ant","key":"k","name":`+filled(c, 200)+`,"allowed_models":[`+strings.TrimSuffix(models, ",")+`]}`)
	}},
	{name: "guardrails", path: "/guardrails", refused: true, fill: func(t *testing.T, g *gateway, _ int, c string) {
		t.Helper()
		g.manage(t, http.MethodPost, "/guardrails", `{"name":`+filled(c, 200)+`,"description":`+filled(c, 1000)+
			`,"content_filters":[{"action":"flag","pattern":`+string(systemone.AppendString(nil, "["+strings.Repeat(c, 99_998)+"]"))+`}]}`)
	}},
}

// filled returns the JSON of a text that repeats a character n times.
func filled(character string, n int) string {
	return string(systemone.AppendString(nil, strings.Repeat(character, n)))
}

// TestNoPageIsLargerThanItsBound requests pages of lists whose rows are all at their
// bounds. The refusal of a page that would be too large names a limit that fits.
func TestNoPageIsLargerThanItsBound(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and asks one thing at a time")
	}
	worst := hostile[:1] // the worst for bounds in bytes
	if os.Getenv("SIGNALBOX_TEST_FULL") == "1" {
		worst = hostile[:2] // and for bounds in characters
	}
	for _, list := range fullLists {
		for _, character := range worst {
			t.Run(list.name+" of "+strconv.QuoteToASCII(character), func(t *testing.T) {
				g := newGateway(t, keys.RateLimits{})
				for row := range 100 {
					list.fill(t, g, row, character)
				}
				path := list.path
				if list.name != "keys" {
					path += "?limit=100"
				}
				w := g.do(t, http.MethodGet, path, "", g.seeded.Management)
				if list.refused && w.Code == http.StatusBadRequest {
					var most int
					var reply struct {
						Error struct {
							Metadata struct{ Issues []systemone.Issue }
						}
					}
					require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply))
					issue := reply.Error.Metadata.Issues[0]
					assert.Equal(t, "limit", issue.Path)
					_, err := fmt.Sscanf(issue.Message, "must be at most %d", &most)
					require.NoError(t, err)
					require.GreaterOrEqual(t, most, 8)
					w = g.do(t, http.MethodGet, list.path+"?limit="+strconv.Itoa(most), "", g.seeded.Management)
				}
				require.Equal(t, http.StatusOK, w.Code, "%.300s", w.Body)
				assert.LessOrEqual(t, w.Body.Len(), maxReply)
				assert.True(t, json.Valid(w.Body.Bytes()))
				t.Logf("%d bytes", w.Body.Len())
			})
		}
	}
}

// TestRefusalsAreShort sends bodies with a million mistakes.
func TestRefusalsAreShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long, and asks one thing at a time")
	}
	g := newGateway(t, keys.RateLimits{})
	many := strings.TrimSuffix(strings.Repeat(`"",`, 1<<20), ",")
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/guardrails", `{"name":"g","allowed_models":[` + many + `]}`},
		{"POST", "/guardrails", `{"name":"g","content_filters":[` + strings.ReplaceAll(many, `""`, "0") + `]}`},
		{"POST", "/byok", `{"provider":"ant","key":"k","allowed_models":[` + many + `]}`},
		{"POST", "/presets/p/responses", `{"models":[` + strings.ReplaceAll(many, `""`, "0") + `]}`},
		{"POST", "/workspaces/lab/members/add", `{"user_ids":[` + many + `]}`},
		{"POST", "/systemone", `{"model":` + filled("\x01", 600_000) + `,"state":"s","questions":{"q":{"type":"noul","instructions":"x"}}}`},
		{"POST", "/systemone", `{"model":"acme/judge","state":"s","questions":{"q":{"type":"noul","instructions":"x"}},"models":[` + many + `]}`},
		{"POST", "/systemone", `{"model":"acme/judge","state":"s","questions":{` + strings.TrimSuffix(strings.Repeat(`"":0,`, 1<<18), ",") + `}}`},
		{"POST", "/decisions", `{"model":"acme/judge","input":"s","questions":[` + many + `]}`},
		{"POST", "/decisions", `{"model":"acme/judge","input":[` + many + `],"questions":[]}`},
		{"POST", "/decisions", `{"model":"acme/judge","input":"s","questions":[{"type":"choice","instructions":"x","choices":[` + many + `]}]}`},
	} {
		key := g.seeded.Management
		if c.path == "/systemone" || c.path == "/decisions" {
			key = g.seeded.Inference
		}
		w := g.do(t, c.method, c.path, c.body, key)
		assert.Equal(t, http.StatusBadRequest, w.Code, "%.80s", c.body)
		assert.Less(t, w.Body.Len(), 64<<10, "%s %.80s", c.path, c.body)
		assert.LessOrEqual(t, strings.Count(w.Body.String(), `"path"`), 101)
	}
}

// TestLargePagesAreSentAsTheyAreRead compares a large page, sent over a connection,
// with its rows read one by one.
func TestLargePagesAreSentAsTheyAreRead(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for n := range 30 {
		g.manage(t, http.MethodPost, "/presets/p/responses", `{"seed":`+strconv.Itoa(n)+`,"instructions":`+filled("a", 60_000)+`}`)
	}
	server := httptest.NewServer(g.Handler)
	defer server.Close()
	get := func(query, encoding string) (length int64, id string, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/presets/p/versions?"+query, nil)
		require.NoError(t, err)
		if encoding != "" {
			r.Header.Set("Accept-Encoding", encoding)
		}
		r.Header.Set("Authorization", "Bearer "+string(g.seeded.Management))
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		body, err = io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode)
		return resp.ContentLength, resp.Header.Get("X-Request-Id"), body
	}
	var want bytes.Buffer
	for n := 3; n < 28; n++ {
		length, _, one := get("limit=1&offset="+strconv.Itoa(n), "identity")
		assert.Equal(t, int64(len(one)), length, "a small page has its length")
		one = bytes.TrimSuffix(bytes.TrimPrefix(one, []byte(`{"data":[`)), []byte(`],"total_count":30}`))
		want.Write(append(one, ','))
	}
	for _, encoding := range []string{"identity", ""} { // the client asks for gzip by itself
		length, id, got := get("limit=25&offset=3", encoding)
		assert.Equal(t, int64(-1), length)
		assert.NotEmpty(t, id)
		require.Equal(t, `{"data":[`+strings.TrimSuffix(want.String(), ",")+`],"total_count":30}`, string(got))
	}
}

// TestReadersThatDoNotReadHoldLittle: 50 callers request 3 MB each and read only the
// head of the reply.
func TestReadersThatDoNotReadHoldLittle(t *testing.T) {
	g := newGateway(t, keys.RateLimits{})
	for range 100 {
		g.manage(t, http.MethodPost, "/presets/p/responses", `{"instructions":`+filled("a", 64<<10-8)+`}`)
	}
	server := httptest.NewServer(g.Handler)
	defer server.Close()
	const readers = 50
	before := allocated()
	for range readers {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		defer c.Close() //nolint:errcheck // at the end of the test
		tcp, ok := c.(*net.TCPConn)
		require.True(t, ok)
		require.NoError(t, tcp.SetReadBuffer(4096))
		_, err = fmt.Fprintf(c, "GET /api/v1/presets/p/versions?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", string(g.seeded.Management))
		require.NoError(t, err)
		line, err := bufio.NewReaderSize(c, 16).ReadString('\n') // the reply has begun
		require.NoError(t, err)
		assert.Contains(t, line, "200")
	}
	assert.Less(t, (allocated()-before)/readers, int64(2<<20), "a page has 6.5 MB")
}

// allocated returns the bytes of the heap in use.
func allocated() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
