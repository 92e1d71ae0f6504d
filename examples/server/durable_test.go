package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
)

var testSealingKey = strings.Repeat("5e", 32)

// durable runs a test on each kind of storage that outlives a process, with the
// options and environment of processes that use it.
func durable(t *testing.T, test func(t *testing.T, o options, env func(string) string)) {
	t.Helper()
	none := func(string) string { return "" }
	t.Run("data", func(t *testing.T) {
		test(t, options{data: filepath.Join(t.TempDir(), "a", "what? 100% #1")}, none)
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, options{postgres: pgtest.DSN(t, pgtest.Config{OwnDatabase: true})}, func(name string) string {
			return map[string]string{sealingEnv: testSealingKey}[name]
		})
	})
}

// world is what outlives the processes of a test: a clock and an upstream, which
// records the credential of the last request.
type world struct {
	mu         sync.Mutex
	at         time.Time
	credential string
	config     config
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	up := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.credential = r.Header.Get("Authorization")
		w.mu.Unlock()
		out.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(out, `{"model":"j","answers":{"q":{"type":"noul","noul":0.75}},"usage":{"input_tokens":3,"output_tokens":1}}`)
	}))
	t.Cleanup(up.Close)
	c, err := decodeConfig([]byte(fmt.Sprintf(`{
		"providers": [{"slug": "up", "kind": "systemone", "base_url": "%s/v1"}],
		"models": [{"id": "acme/judge", "permaslug": "acme/judge-20260901"}],
		"endpoints": [{"provider": "up", "model": "acme/judge", "pricing": {"request": "0.01"}}]}`, up.URL)))
	require.NoError(t, err)
	w.config = c
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// process is a service that can be stopped.
type process struct {
	*service
	kept *storage
}

func (w *world) start(t *testing.T, o options, env func(string) string) *process {
	t.Helper()
	catalog, err := builder{getenv: env, warn: func(string) {}}.catalog(w.config)
	require.NoError(t, err)
	kept, err := openStorage(t.Context(), o, env)
	require.NoError(t, err)
	s, err := newService(t.Context(), catalog, kept, options{}, w.now, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	if s.first != nil {
		require.NoError(t, s.first.shown(t.Context()))
	}
	return &process{s, kept}
}

// ask sends a request and returns the reply.
func (p *process) ask(t *testing.T, key, method, path, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key)
	w := httptest.NewRecorder()
	p.Handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// must sends a request that has to succeed.
func (p *process) must(t *testing.T, key, method, path, body string) string {
	t.Helper()
	code, text := p.ask(t, key, method, path, body)
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, code, "%s %s: %s", method, path, text)
	return text
}

const (
	question   = `"questions":{"q":{"type":"noul","instructions":"?"}}}`
	decide     = `{"model":"acme/judge","state":"x",` + question
	decideMail = `{"model":"acme/judge","state":"Write to ann@example.org",` + question
	withPreset = `{"preset":"support","state":"x",` + question
)

// pick returns the first text member with that name in a JSON text.
func pick(t *testing.T, text, member string) string {
	t.Helper()
	_, after, found := strings.Cut(text, `"`+member+`":"`)
	require.True(t, found, "%s in %s", member, text)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func TestARestartKeepsEverything(t *testing.T) {
	durable(t, func(t *testing.T, o options, env func(string) string) {
		t.Helper()
		w := newWorld(t)
		p := w.start(t, o, env)
		require.NotNil(t, p.first)
		admin, first := string(p.access.management), string(p.access.inference)

		made := p.must(t, admin, "POST", "/keys", `{"name":"web","limit":0.02,"limit_reset":"weekly"}`)
		web, hash := pick(t, made, "key"), pick(t, made, "hash")
		p.must(t, web, "POST", "/systemone", decide)
		p.must(t, admin, "POST", "/presets/support/chat/completions", `{"model":"acme/judge","messages":[{"role":"system","content":"Be kind."}]}`)
		guardrail := pick(t, p.must(t, admin, "POST", "/guardrails", `{"name":"no addresses","content_filter_builtins":[{"slug":"email","action":"block"}]}`), "id")
		p.must(t, admin, "POST", "/guardrails/"+guardrail+"/assignments/keys", `{"key_hashes":["`+hash+`"]}`)
		p.must(t, admin, "PUT", "/workspaces/default/budgets/monthly", `{"limit_usd":0.05}`)
		p.must(t, admin, "PATCH", "/organization/settings", `{"is_filtered_model_catalog_enabled":true}`)
		p.must(t, first, "POST", "/systemone", withPreset)
		p.must(t, admin, "POST", "/byok", `{"provider":"up","name":"ours","key":"provider-secret-0123456789","allowed_api_key_hashes":["`+hash+`"]}`)
		w.pass(24 * time.Hour)

		paths := []string{
			"/keys", "/keys/" + hash, "/activity", "/credits", "/workspaces", "/workspaces/default/budgets", "/organization/members",
			"/organization/settings", "/presets", "/presets/support", "/guardrails", "/guardrails/assignments/keys", "/byok",
		}
		before := map[string]string{}
		for _, path := range paths {
			before[path] = p.must(t, admin, "GET", path, "")
		}
		assert.Contains(t, before["/activity"], `"usage":0.02,`)
		assert.Contains(t, before["/keys/"+hash], `"usage":0.01,`)
		changes := p.changes(t)
		require.NoError(t, p.kept.close())

		p = w.start(t, o, env)
		assert.Nil(t, p.first, "there are keys")
		for _, path := range paths {
			assert.Equal(t, before[path], p.must(t, admin, "GET", path, ""), path)
		}
		assert.Equal(t, changes, p.changes(t))
		code, text := p.ask(t, web, "POST", "/systemone", decideMail)
		assert.Equal(t, http.StatusForbidden, code, text)
		p.must(t, first, "POST", "/systemone", withPreset)
		p.must(t, web, "POST", "/systemone", decide)
		assert.Equal(t, "Bearer provider-secret-0123456789", w.credential, "the sealing key is the same")

		id := pick(t, p.must(t, admin, "GET", "/byok", ""), "id")
		p.must(t, admin, "DELETE", "/byok/"+id, "")
		p.must(t, web, "POST", "/systemone", decide)
		code, text = p.ask(t, web, "POST", "/systemone", decide)
		assert.Equal(t, http.StatusPaymentRequired, code, "what was spent before counts: %s", text)
		require.NoError(t, p.kept.close())
	})
}

// changes counts the records of changes.
func (p *process) changes(t *testing.T) int {
	t.Helper()
	_, n, err := p.Organization.Changes(t.Context(), "demo", 0, 0)
	require.NoError(t, err)
	return n
}

func TestWhatOneProcessChangesActsInAnother(t *testing.T) {
	w := newWorld(t)
	o := options{postgres: pgtest.DSN(t, pgtest.Config{OwnDatabase: true})}
	env := func(name string) string { return map[string]string{sealingEnv: testSealingKey}[name] }
	a := w.start(t, o, env)
	b := w.start(t, o, env)
	t.Cleanup(func() { assert.NoError(t, a.kept.close()); assert.NoError(t, b.kept.close()) })
	require.NotNil(t, a.first)
	require.Nil(t, b.first)
	admin := string(a.access.management)
	create := func(t *testing.T, name string) (key, hash string) {
		t.Helper()
		made := a.must(t, admin, "POST", "/keys", `{"name":"`+name+`"}`)
		return pick(t, made, "key"), pick(t, made, "hash")
	}
	refused := func(t *testing.T, key, body string, want int) {
		t.Helper()
		w.pass(10 * time.Second)
		code, text := b.ask(t, key, "POST", "/systemone", body)
		assert.Equal(t, want, code, text)
	}

	t.Run("a disabled key", func(t *testing.T) {
		key, hash := create(t, "one")
		b.must(t, key, "POST", "/systemone", decide)
		a.must(t, admin, "PATCH", "/keys/"+hash, `{"disabled":true}`)
		refused(t, key, decide, http.StatusUnauthorized)
	})
	t.Run("a deleted key", func(t *testing.T) {
		key, hash := create(t, "two")
		b.must(t, key, "POST", "/systemone", decide)
		a.must(t, admin, "DELETE", "/keys/"+hash, "")
		refused(t, key, decide, http.StatusUnauthorized)
	})
	t.Run("a limit", func(t *testing.T) {
		key, hash := create(t, "three")
		b.must(t, key, "POST", "/systemone", decide)
		a.must(t, admin, "PATCH", "/keys/"+hash, `{"limit":0.01}`)
		refused(t, key, decide, http.StatusPaymentRequired)
	})
	t.Run("a guardrail", func(t *testing.T) {
		key, hash := create(t, "four")
		b.must(t, key, "POST", "/systemone", decideMail)
		id := pick(t, a.must(t, admin, "POST", "/guardrails", `{"name":"g","content_filter_builtins":[{"slug":"email","action":"block"}]}`), "id")
		a.must(t, admin, "POST", "/guardrails/"+id+"/assignments/keys", `{"key_hashes":["`+hash+`"]}`)
		refused(t, key, decideMail, http.StatusForbidden)
	})
	t.Run("a credential", func(t *testing.T) {
		key, _ := create(t, "five")
		b.must(t, key, "POST", "/systemone", decide)
		require.Empty(t, w.credential)
		a.must(t, admin, "POST", "/byok", `{"provider":"up","name":"ours","key":"provider-secret-0123456789"}`)
		w.pass(10 * time.Second)
		b.must(t, key, "POST", "/systemone", decide)
		assert.Equal(t, "Bearer provider-secret-0123456789", w.credential)
	})
	t.Run("a budget of the workspace", func(t *testing.T) {
		key, _ := create(t, "six")
		id := pick(t, a.must(t, admin, "GET", "/byok", ""), "id")
		a.must(t, admin, "DELETE", "/byok/"+id, "")
		w.pass(10 * time.Second)
		b.must(t, key, "POST", "/systemone", decide)
		a.must(t, admin, "PUT", "/workspaces/default/budgets/lifetime", `{"limit_usd":0.01}`)
		refused(t, key, decide, http.StatusForbidden)
	})
}
