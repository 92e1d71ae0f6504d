package signalbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
)

// errand is one request of the walk.
type errand struct {
	what, method, path, body string
	header                   map[string]string
	repeats                  bool // the answer names what was sent, as the interface wants it
}

func bearer(key router.Secret) map[string]string {
	return map[string]string{"Authorization": "Bearer " + string(key), "X-Router-Metadata": "enabled"}
}

// send sends a request and keeps the whole reply, except the text of a key that the
// reply reveals.
func (a *aviary) send(q errand) []byte {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), q.method, a.server.URL+q.path, strings.NewReader(q.body))
	require.NoError(a.t, err)
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	resp, err := a.client.Do(r)
	require.NoError(a.t, err, q.what)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(a.t, err)
	text := string(body)
	var revealed struct {
		Key string `json:"key"`
	}
	if resp.StatusCode == http.StatusCreated && json.Unmarshal(body, &revealed) == nil && revealed.Key != "" {
		a.revealed++
		a.hide(fmt.Sprint("revealed key ", a.revealed), revealed.Key)
		text = strings.Replace(text, `"key":"`+revealed.Key+`"`, "", 1)
	}
	a.statuses[resp.StatusCode]++
	if !q.repeats {
		a.answers = append(a.answers, fmt.Sprintln(q.what, resp.StatusCode, resp.Header, text))
	}
	return body
}

// own makes a credential of the caller's at a provider.
func (a *aviary) own(name string) string {
	text := "sk-own-at-provider-" + strings.ReplaceAll(uuid.NewString(), "-", "")
	a.hide(name, text)
	a.sent[text] = true
	return text
}

// furnish makes one object of every kind, and a guardrail over everything.
func (a *aviary) furnish() {
	a.t.Helper()
	made := func(path, body, id string) string {
		a.t.Helper()
		var object struct {
			Data map[string]any `json:"data"`
		}
		reply := a.send(errand{"furnish", http.MethodPost, a.fill("/api/v1" + path), a.fill(body), bearer(a.seeded.Management), false})
		require.NoError(a.t, json.Unmarshal(reply, &object), "%s", reply)
		text, ok := object.Data[id].(string)
		require.True(a.t, ok, "%s: %s", path, reply)
		return text
	}
	maps.Copy(a.ids, map[string]string{
		"user": demo.Member, "preset": "p", "version": "1", "interval": "monthly", "author": "acme", "slug": "judge",
		"new secret": a.own("new secret"), "changed secret": a.own("changed secret"),
	})
	slug := fmt.Sprint("spare-", a.clock.now().Unix())
	a.ids["workspace"] = made("/workspaces", `{"name":"Spare","slug":"`+slug+`"}`, "id")
	partner := "sk-partner-0123456789-9a8b7c6d5e4f3a2b1c0d"
	a.hide("partner's key", partner)
	a.ids["hash"] = made("/keys", `{"name":"object","external":{"user":"u1","api_key":"`+partner+`"}}`, "hash")
	a.ids["guardrail"] = made("/guardrails", `{"name":"object"}`, "id")
	a.ids["credential"] = made("/byok", `{"provider":"bee","key":"`+a.own("first secret")+`","workspace_id":"{workspace}"}`, "id")
	made("/presets/{preset}/messages", `{"model":"acme/judge","messages":[{"role":"user","content":"x"}]}`, "slug")
	a.send(errand{"guard", http.MethodPatch, "/api/v1/guardrails/" + a.seeded.Home.DefaultGuardrail, `{
		"content_filter_builtins":[{"slug":"email","action":"redact"},{"slug":"ssn","action":"flag"},
			{"slug":"phone","action":"block"},{"slug":"regex-prompt-injection","action":"block"}],
		"content_filters":[{"pattern":"PROJECT-[A-Z]+","action":"redact","label":"[PROJECT]"}]}`, bearer(a.seeded.Management), false})
}

// fill puts ids in place of {names}.
func (a *aviary) fill(s string) string {
	for name, id := range a.ids {
		s = strings.ReplaceAll(s, "{"+name+"}", id)
	}
	return s
}

// walk sends every route what is sound and what is not.
func (a *aviary) walk() {
	a.t.Helper()
	for _, r := range routes() {
		key, other := a.seeded.Management, a.seeded.Inference
		if strings.HasSuffix(r.path, "/systemone") || strings.HasSuffix(r.path, "/decisions") {
			key, other = other, key
		}
		sound := errand{method: r.method, path: a.fill(r.mounted()), body: a.fill(r.body)}
		all := a.misplaced(r, sound, key, other)
		if r.body != "" {
			all = append(all, bodies(sound, string(key))...)
		}
		sound.what, sound.header = "sound", bearer(key)
		for _, q := range append(all, sound) {
			q.what = r.method + " " + r.path + ": " + q.what
			a.send(q)
		}
	}
}

// misplaced has keys of every kind, and the right key in every wrong place.
func (a *aviary) misplaced(r route, sound errand, key, other router.Secret) (all []errand) {
	add := func(what string, change func(q *errand)) {
		q := sound
		q.what, q.header = what, bearer(key)
		change(&q)
		all = append(all, q)
	}
	for _, name := range []string{"disabled", "expired", "deleted", "provisioned", "foreign", "lapsed"} {
		add(name, func(q *errand) { q.header = bearer(router.Secret(a.ids[name])) })
	}
	add("wrong kind", func(q *errand) { q.header = bearer(other) })
	for name, value := range map[string]string{
		"Authorization": string(key), "X-Api-Key": string(other), "Cookie": "key=" + string(key), "Proxy-Authorization": "Bearer " + string(key),
		"X-Auth-Token": string(key), "Content-Type": "text/" + string(key), "X-Forwarded-Host": string(key), "Referer": "https://x.example/" + string(key),
		"User-Agent": string(key), "Accept": string(key), "If-None-Match": string(key), "X-Router-Metadata": string(key), "X-Session-Id": string(key),
	} {
		add("key in "+name, func(q *errand) { q.header[name] = value })
		add("key only in "+name, func(q *errand) { q.header = map[string]string{name: value} })
	}
	for _, scheme := range []string{"Basic ", "Token ", "Bearer " + string(other) + ",", "Bearer " + string(other) + " "} {
		add("scheme", func(q *errand) { q.header["Authorization"] = scheme + string(key) })
	}
	add("longer path", func(q *errand) { q.path += "/" + string(key) })
	add("path", func(q *errand) {
		q.path = r.mounted()
		for name := range a.ids {
			if r.method != http.MethodPost || name != "preset" { // the name of a new preset is kept
				q.path = strings.ReplaceAll(q.path, "{"+name+"}", string(key))
			}
		}
	})
	for _, name := range []string{
		"api_key", "key", "date", "api_key_hash", "user_id", "group_by", "workspace_id", "offset", "limit", "include_disabled", "provider",
	} {
		add("query "+name, func(q *errand) { q.path += "?" + name + "=" + string(key) })
	}
	add("method", func(q *errand) { q.method = "LOCK" })
	return all
}

// bodies has the key in every place of a body, and bodies that are none.
func bodies(sound errand, key string) (all []errand) {
	add := func(what, body string, repeats bool) {
		q := sound
		q.what, q.body, q.repeats, q.header = what, body, repeats, bearer(router.Secret(key))
		all = append(all, q)
	}
	add("cut off", `{"name":"`+key, false)
	add("text", `"`+key+`"`, false)
	add("no JSON", key, false)
	add("after the end", sound.body+key, false)
	add("invalid text", `{"name":"`+key+"\xff\"}", false)
	add("escape", `{"name":"`+key+`\x"}`, false)
	add("twice", `{"`+key+`":1,"`+key+`":2}`, true)
	if strings.HasSuffix(sound.path, "/byok") || strings.HasSuffix(sound.path, "/systemone") || strings.HasSuffix(sound.path, "/decisions") {
		add("too large", `{"key":"`+key+strings.Repeat(" ", 5<<20)+`"}`, false)
	}
	var document map[string]any
	if json.Unmarshal([]byte(sound.body), &document) != nil {
		return all
	}
	poison(document, "", func(path string, put func(any)) {
		for _, bad := range []any{key, []any{key}, map[string]any{"name": key}, 1} {
			if _, text := bad.(string); text && keptAsSent(path) || bad != 1 && content(path) {
				continue
			}
			put(bad)
			text, err := json.Marshal(document)
			if err == nil {
				add("member "+path, string(text), false)
			}
		}
	})
	return all
}

// content reports whether a member is the caller's content, which providers may see.
func content(path string) bool { return path == "state" || strings.HasSuffix(path, ".instructions") }

// poison calls visit for every text in a document, with a function that replaces the
// text.
func poison(v any, path string, visit func(path string, put func(any))) {
	each := func(name string, value any, put func(any)) {
		if _, ok := value.(string); !ok {
			poison(value, path+name+".", visit)
			return
		}
		visit(path+name, put)
		put(value)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			each(name, value, func(to any) { v[name] = to })
		}
	case []any:
		for i, value := range v {
			each(strconv.Itoa(i), value, func(to any) { v[i] = to })
		}
	}
}

// mumble sends malformed HTTP with a key in it.
func (a *aviary) mumble() {
	a.t.Helper()
	key := string(a.seeded.Inference)
	for _, text := range []string{
		key + "\r\n\r\n",
		"GET /" + key + " HTTP/9.9\r\n\r\n",
		"GET /api/v1/key HTTP/1.1\r\nHost: x\r\n" + key + "\r\n\r\n",
		"GET /api/v1/key HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer " + key + "\r\n\r\n",
		"GET /api/v1/key HTTP/1.1\r\nHost: " + key + " x\r\nAuthorization: Bearer " + key + "\x00\r\n\r\n",
		"POST /api/v1/systemone HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nTransfer-Encoding: chunked\r\n\r\n" + key + "\r\n\r\n",
		"POST /api/v1/systemone HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Length: -" + key + "\r\n\r\n",
	} {
		conn, err := (&net.Dialer{}).DialContext(a.t.Context(), "tcp", a.server.Listener.Addr().String())
		require.NoError(a.t, err)
		_, err = io.WriteString(conn, text)
		require.NoError(a.t, err)
		require.NoError(a.t, conn.SetReadDeadline(time.Now().Add(5*time.Second)))
		reply, _ := io.ReadAll(io.LimitReader(conn, 4096))
		_ = conn.Close()
		a.answers = append(a.answers, fmt.Sprintln("no HTTP", string(reply)))
	}
}
