package sdktest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// upstream is a System One service that answers by a script for each model, and records
// what it received.
type upstream struct {
	url    string
	script script

	mu   sync.Mutex
	seen map[string][]sent // by model
}

// sent is one request as it arrived.
type sent struct {
	at     time.Time
	header http.Header
	body   string
}

// script says, by model, what to do with its n-th request, from 0.
type script map[string]func(w http.ResponseWriter, r *http.Request, n int)

// labScript has one model for each behaviour. "plain" is what "answer" is, but nobody
// else serves it.
var labScript = script{
	"answer":       reply(http.StatusOK, answers),
	"plain":        reply(http.StatusOK, answers),
	"nulls":        reply(http.StatusOK, nullAnswers),
	"strong":       strong,
	"typed":        reply(http.StatusOK, typedAnswers),
	"half":         reply(http.StatusServiceUnavailable, failure),
	"refused":      reply(http.StatusBadRequest, failure),
	"large":        reply(http.StatusRequestEntityTooLarge, failure),
	"limited":      reply(http.StatusTooManyRequests, failure),
	"failing":      reply(http.StatusInternalServerError, failure),
	"untrusted":    reply(http.StatusOK, `{"model":"untrusted","answers":{},"usage":{"input_tokens":1,"output_tokens":1}}`),
	"full":         reply(http.StatusServiceUnavailable, failure),
	"slow":         reply(http.StatusGatewayTimeout, failure),
	"hanging":      hang,
	"overloaded":   reply(529, failure),
	"limited-once": once(http.StatusTooManyRequests),
	"full-once":    once(http.StatusServiceUnavailable),
}

// carelessScript answers for models for which the lab does not.
var carelessScript = script{
	"answer": reply(http.StatusOK, answers),
	"half":   reply(http.StatusOK, answers),
}

const (
	// answers fit the questions of the cases: urgent, tone and grade.
	answers = `{"id":"up-1","model":"answer-1","usage":{"input_tokens":40,"output_tokens":3},"answers":{` +
		`"urgent":{"type":"noul","noul":0.25},` +
		`"tone":{"type":"choice","choice":"sad","confidence":0.9,"probabilities":{"glad":0.25,"sad":0.75}},` +
		`"grade":{"type":"score","score":1.5,"confidence":0.9,"probabilities":{"0":0.125,"1":0.25,"2":0.625},` +
		`"legend":{"0":"poor","1":"fair","2":"good"}}}}`
	// nullAnswers fit the same questions with nulls, and one more.
	nullAnswers = `{"model":"nulls-1","usage":{"input_tokens":40,"output_tokens":4},"answers":{` +
		`"urgent":{"type":"noul","noul":0.25},"side":{"type":"noul","noul":0.5},` +
		`"tone":{"type":"choice","choice":"sad","confidence":0.5,"probabilities":{"glad":0.25,"sad":0.75}},` +
		`"grade":{"type":"score","score":1.5,"confidence":0.25,"probabilities":{"0":0.125,"1":0.25,"2":0.625}}}}`
	// typedAnswers fit a predicate, a choice of true, "true" and false, and a score of two
	// levels, all without names.
	typedAnswers = `{"model":"typed-1","usage":{"input_tokens":40,"output_tokens":3},"answers":{"0":{"type":"noul","noul":0.25},` +
		`"1":{"type":"choice","choice":"true (boolean)","confidence":0.5,"probabilities":{"true (boolean)":0.75,"true":0.25,"false":0}},` +
		`"2":{"type":"score","score":0.75,"confidence":0.5,"probabilities":{"0":0.25,"1":0.75}}}}`
	failure = `{"detail":{"error_type":"upstream","message":"` + innerText + `"}}`
)

func newUpstream(t *testing.T, s script) *upstream {
	t.Helper()
	u := &upstream{script: s, seen: map[string][]sent{}}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.url = server.URL
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		Model string `json:"model"`
	}
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/systemone" || u.script[request.Model] == nil {
		http.Error(w, "not what a client of this dialect sends", http.StatusTeapot)
		return
	}
	u.mu.Lock()
	n := len(u.seen[request.Model])
	u.seen[request.Model] = append(u.seen[request.Model], sent{time.Now(), r.Header.Clone(), string(body)})
	u.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	u.script[request.Model](w, r, n)
}

// received returns the requests for a model so far.
func (u *upstream) received(model string) []sent {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]sent(nil), u.seen[model]...)
}

func reply(status int, body string) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "application/json")
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// strong answers those of the questions of the cases that it is asked, otherwise than
// the other models.
func strong(w http.ResponseWriter, r *http.Request, n int) {
	var request struct {
		Questions map[string]json.RawMessage `json:"questions"`
	}
	all := map[string]string{
		"urgent": `{"type":"noul","noul":0.75}`,
		"tone":   `{"type":"choice","choice":"glad","confidence":0.9,"probabilities":{"glad":1,"sad":0}}`,
		"grade":  `{"type":"score","score":2,"confidence":1,"probabilities":{"0":0,"1":0,"2":1},"legend":{"0":"poor","1":"fair","2":"good"}}`,
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, failure, http.StatusTeapot)
		return
	}
	var answers []string
	for name := range request.Questions {
		answers = append(answers, `"`+name+`":`+all[name])
	}
	reply(http.StatusOK, `{"model":"strong-1","usage":{"input_tokens":20,"output_tokens":1},"answers":{`+strings.Join(answers, ",")+"}}")(w, r, n)
}

// once replies to the first request with a status and Retry-After, and answers the
// next.
func once(status int) func(http.ResponseWriter, *http.Request, int) {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n > 0 {
			reply(http.StatusOK, answers)(w, r, n)
			return
		}
		w.Header().Set("Retry-After", "1")
		http.Error(w, failure, status)
	}
}

// hang sends no reply until the client hangs up.
func hang(_ http.ResponseWriter, r *http.Request, _ int) {
	<-r.Context().Done()
}
