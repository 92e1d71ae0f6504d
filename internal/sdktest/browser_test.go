package sdktest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pageScript sends requests to the interface as a page does, and reports to the page's
// own server what the page can read of each reply.
const pageScript = `<!doctype html><script type="module">
const {root, key, body} = CASE;
const ask = async (path, key, more) => {
  try {
    const reply = await fetch(root + path, {headers: {Authorization: "Bearer " + key, "Content-Type": "application/json", "X-Own": "1"}, ...more});
    const read = (name) => reply.headers.get(name) ?? "";
    return {status: reply.status, body: await reply.text(), generation: read("x-generation-id"), request: read("x-request-id"), native: read("x-typesafe-request-id")};
  } catch (err) {
    return {refused: err.name};
  }
};
const post = {method: "POST", body: JSON.stringify(body)};
await fetch("/report", {method: "POST", body: JSON.stringify({
  decision: await ask("/api/v1/systemone", key, post),
  alpha: await ask("/api/alpha/decisions", key, post),
  native: await ask("/v1/systemone", key, post),
  models: await ask("/api/v1/models/", key, {}),
  change: await ask("/api/v1/keys/x", key, {method: "PATCH", body: "{}"}),
  nothing: await ask("/api/v1/nothing", key, post),
  stranger: await ask("/api/v1/systemone", "nobody", post),
})});
</script>`

// seen is what a page can read of a reply. Refused is the browser's error, if the page
// can read nothing.
type seen struct {
	Refused, Body               string
	Status                      int
	Generation, Request, Native string
}

// site serves a page on an origin of its own.
type site struct {
	url     string
	page    atomic.Pointer[string] // atomic, because the race detector cannot order it by the browser's request
	reports chan map[string]seen
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{reports: make(chan map[string]seen, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, *s.page.Load())
		case "/report":
			var report map[string]seen
			if assert.NoError(t, json.NewDecoder(r.Body).Decode(&report)) {
				s.reports <- report
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// chromium returns the path of a browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("SIGNALBOX_TEST_NOSKIP") == "1" {
		t.Fatal("Chromium is promised here")
	}
	t.Skip("needs Chromium")
	return ""
}

// visit opens a site's page in a browser until the page has reported.
func (s *site) visit(t *testing.T, browser string) map[string]seen {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), browser,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--remote-debugging-port=0", s.url+"/") // a debugging port keeps the browser running until it is killed
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case report := <-s.reports:
		_ = cmd.Process.Kill()
		<-ended //nolint:errcheck // always the error of a killed process
		return report
	case err := <-ended:
		t.Fatalf("the browser ended: %v: %s", err, &stderr)
		return nil
	}
}

// TestABrowserAsksFromAPageThatIsLetIn: a page of an allowed origin can use the
// interface. A page of any other origin can read no reply.
func TestABrowserAsksFromAPageThatIsLetIn(t *testing.T) {
	browser := chromium(t)
	friend, stranger := newSite(t), newSite(t)
	m := newManaged(t, friend.url)
	settings, err := json.Marshal(object{
		"root": strings.TrimSuffix(m.url, "/api/v1"), "key": string(m.seeded.Inference),
		"body": object{"model": "lab/answer", "state": "a parcel", "questions": questions()},
	})
	require.NoError(t, err)
	page := strings.Replace(pageScript, "CASE", string(settings), 1)
	friend.page.Store(&page)
	stranger.page.Store(&page)

	got := friend.visit(t, browser)
	for name, status := range map[string]int{
		"decision": 200, "alpha": 200, "native": 200, "models": 200, "change": 403, "nothing": 404, "stranger": 401,
	} {
		assert.Equal(t, status, got[name].Status, "%s: %+v", name, got[name])
		assert.NotEmpty(t, got[name].Request, name)
	}
	assert.Regexp(t, `^gen-dec-`, got["decision"].Generation)
	assert.Equal(t, got["native"].Request, got["native"].Native)
	assert.Contains(t, got["stranger"].Body, "Invalid API key")

	got = stranger.visit(t, browser)
	assert.Len(t, got, 7)
	for name, of := range got {
		assert.Equal(t, seen{Refused: "TypeError"}, of, name)
	}
}
