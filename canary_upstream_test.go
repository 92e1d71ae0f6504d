package signalbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// parrot is an upstream that repeats the credential and the request that it received
// in every part of a reply.
type parrot struct {
	decisions bool // speaks the OpenAI Decisions dialect, not System One

	mu    sync.Mutex
	mode  string
	shown []string // the credentials that it received
	heard []string // everything else that it received
}

// moods lists how a parrot can reply: with a status, or malformed in a given way.
func moods() []string {
	return []string{
		"200", "400", "401", "402", "403", "404", "413", "422", "429", "500", "502", "503", "504", "529", "302",
		"names", "text", "cut", "label", "cost", "status line", "header line", "chunk", "hang up",
	}
}

func (p *parrot) set(mode string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode = mode
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	p.mu.Lock()
	mode := p.mode
	p.shown = append(p.shown, key)
	rest := r.Header.Clone()
	rest.Del("Authorization")
	p.heard = append(p.heard, fmt.Sprintln(r.Method, r.URL, rest, string(body)))
	p.mu.Unlock()

	said := key + " said " + string(body)
	for _, name := range []string{"X-Request-Id", "X-Echo", "Retry-After", "Www-Authenticate", "Location", "Set-Cookie"} {
		w.Header().Set(name, "https://evil.example/"+key)
	}
	reply, quote := p.answer(body, mode, key), func(s string) []byte { return must(json.Marshal(s)) }
	switch mode {
	case "text":
		_, _ = io.WriteString(w, said)
	case "cut":
		_, _ = w.Write(reply[:len(reply)-9])
	case "status line":
		hijack(w, "HTTP/1.1 "+key+"\r\n\r\n")
	case "header line":
		hijack(w, "HTTP/1.1 200 OK\r\n"+key+"\r\n\r\n")
	case "chunk":
		hijack(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+key+"\r\n")
	case "hang up":
		hijack(w, "")
	case "200", "names", "label", "cost":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(reply)
	default:
		status := 0
		_, _ = fmt.Sscan(mode, &status)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%[1]s,"type":%[1]s,"message":%[1]s,"param":%[1]s},"detail":%[1]s}`, quote(said))
	}
}

// must is for what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func hijack(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

// kind is the part of a question that a parrot reads.
type kind struct {
	Type string `json:"type"`
}

// answer returns a valid answer to all questions, or one with the key in place of
// names, labels or amounts.
func (p *parrot) answer(body []byte, mode, key string) []byte {
	var sent struct {
		Questions json.RawMessage `json:"questions"`
	}
	if json.Unmarshal(body, &sent) != nil {
		return []byte(`{"nothing":"was understood"}`)
	}
	id, label, cost := "up-1", "0", "0.1"
	switch mode {
	case "names":
		id = key
	case "label":
		label = key
	case "cost":
		cost = key
	}
	usage := map[string]any{"input_tokens": 3, "output_tokens": 1, "cost": json.RawMessage(`"` + cost + `"`)}
	if mode != "cost" {
		usage["cost"] = 0.1
	}
	var answers any
	if p.decisions {
		var questions []kind
		_ = json.Unmarshal(sent.Questions, &questions)
		list := []any{}
		for _, q := range questions {
			if q.Type == "score" {
				list = append(list, map[string]any{"type": "score", "score": 0.5, "confidence": 0.5, "probabilities": []any{
					map[string]any{"value": 0, "label": label, "probability": 0.5}, map[string]any{"value": 1, "label": "1", "probability": 0.5},
				}})
				continue
			}
			list = append(list, map[string]any{"type": "predicate", "probability": 0.5})
		}
		answers = list
	} else {
		var questions map[string]kind
		_ = json.Unmarshal(sent.Questions, &questions)
		all := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(questions)) {
			if questions[name].Type == "score" {
				all[name] = map[string]any{"type": "score", "score": 0.5, "confidence": 0.5, "probabilities": map[string]float64{label: 0.5, "1": 0.5}}
				continue
			}
			all[name] = map[string]any{"type": "noul", "noul": 0.5}
		}
		if mode == "label" {
			all[key] = map[string]any{"type": key}
		}
		answers = all
	}
	return must(json.Marshal(map[string]any{"id": id, "model": id, "answers": answers, "usage": usage}))
}
