package sdktest

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decisionOf is a request of the OpenAI SDKs that the scripted model answers.
func decisionOf(model string) object {
	return object{"model": model, "input": "a parcel", "questions": []object{
		{"type": "predicate", "name": "urgent", "instructions": "Is it urgent?"},
		{"type": "choice", "name": "tone", "instructions": []object{{"type": "input_text", "text": "Which tone?"}}, "choices": []object{{"value": "glad"}, {"value": "sad", "description": "tears"}}},
		{"type": "score", "name": "grade", "instructions": "How good?", "levels": []object{{"label": "poor"}, {"label": "fair"}, {"label": "good"}}},
	}}
}

// typed is a request without names, whose choice has the boolean and the text true.
func typed() object {
	return object{"model": "lab/typed", "input": []object{{"role": "user", "content": []object{{"type": "input_json", "data": object{"text": "a parcel"}}}}}, "questions": []object{
		{"type": "predicate", "instructions": "Is it urgent?"},
		{"type": "choice", "instructions": "Which?", "choices": []object{{"value": true}, {"value": "true"}, {"value": false}}},
		{"type": "score", "instructions": "How good?", "levels": []object{{"label": "poor"}, {"label": "good", "description": "on time"}}},
	}}
}

const (
	decidedAnswers = `[{"type":"predicate","name":"urgent","probability":0.25},
		{"type":"choice","name":"tone","choice":"sad","confidence":0.5,"probabilities":[{"value":"glad","probability":0.25},{"value":"sad","probability":0.75}]},
		{"type":"score","name":"grade","score":1.5,"confidence":0.25,"probabilities":[
			{"value":0,"label":"poor","probability":0.125},{"value":1,"label":"fair","probability":0.25},{"value":2,"label":"good","probability":0.625}]}]`
	typedAnswersSent = `[{"type":"predicate","name":null,"probability":0.25},
		{"type":"choice","name":null,"choice":true,"confidence":0.625,"probabilities":[
			{"value":true,"probability":0.75},{"value":"true","probability":0.25},{"value":false,"probability":0}]},
		{"type":"score","name":null,"score":0.75,"confidence":0.5,"probabilities":[
			{"value":0,"label":"poor","probability":0.25},{"value":1,"label":"good","probability":0.75}]}]`
)

// failures are the errors that a client of the dialect can get: the key, the model, and
// what the SDKs show.
type refusal struct {
	key, model, class string // the class in the SDK for Node
	status            int
	kind, code        string
}

func refusals(g *gateway) map[string]refusal {
	return map[string]refusal{
		"400 unknown model": {g.inference, "lab/none", "BadRequestError", 400, "invalid_request_error", "invalid_request"},
		"401":               {"sk-rt-v1-none", "lab/plain", "AuthenticationError", 401, "authentication_error", "authentication"},
		"402":               {g.inference, modelUnpaid, "APIError", 402, "insufficient_quota", "payment_required"},
		"403":               {g.management, "lab/plain", "PermissionDeniedError", 403, "permission_error", "permission_denied"},
		"413":               {g.inference, "lab/large", "APIError", 413, "invalid_request_error", "payload_too_large"},
		"429":               {g.inference, "lab/limited", "RateLimitError", 429, "rate_limit_error", "rate_limit_exceeded"},
		"500":               {g.inference, modelBroken, "InternalServerError", 500, "server_error", "server"},
		"502":               {g.inference, "lab/failing", "InternalServerError", 502, "server_error", "provider_unavailable"},
		"503":               {g.inference, "lab/off", "InternalServerError", 503, "server_error", "no_capacity"},
		"524":               {g.inference, "lab/slow", "InternalServerError", 524, "server_error", "timeout"},
		"529":               {g.inference, "lab/overloaded", "InternalServerError", 529, "server_error", "provider_overloaded"},
	}
}

// decisionCalls are the calls that both SDKs of OpenAI make.
func decisionCalls(g *gateway) []call {
	settings := decisionOf("lab/plain")
	settings["safety_identifier"], settings["prompt_cache_key"], settings["prompt_cache_options"] = "user-7", "k", object{"mode": "explicit", "ttl": "30m"}
	bad := decisionOf("lab/plain")
	bad["questions"] = []object{{"type": "choice", "instructions": "Which?", "choices": []object{{"value": "a"}, {"value": "a"}}}}
	calls := []call{
		{Name: "answer", Key: g.inference, Request: decisionOf("lab/plain")},
		{Name: "settings", Key: g.inference, Request: settings},
		{Name: "typed", Key: g.inference, Request: typed()},
		{Name: "bad", Key: g.inference, Request: bad},
	}
	for name, r := range refusals(g) {
		calls = append(calls, call{Name: name, Key: r.key, Request: decisionOf(r.model)})
	}
	return calls
}

func checkRefusals(t *testing.T, g *gateway, got map[string]outcome, class func(refusal) string) {
	t.Helper()
	for name, want := range refusals(g) {
		err := got[name].Error
		if assert.NotNil(t, err, "%s: %s", name, got[name].Value) {
			assert.Equal(t, class(want), err.Class, name)
			assert.Equal(t, want.status, err.Status, name)
			assert.Equal(t, want.kind, err.Type, name)
			assert.Equal(t, want.code, err.Code, name)
			assert.NotEmpty(t, err.Message, name)
			assert.NotEmpty(t, err.RequestID, name)
		}
	}
	assert.Equal(t, "7", got["429"].Error.RetryAfter)
	require.NotNil(t, got["bad"].Error)
	assert.Equal(t, 400, got["bad"].Error.Status)
	assert.Equal(t, "questions.0.choices.1.value", got["bad"].Error.Param)
	assert.Contains(t, got["bad"].Error.Message, "questions.0.choices.1.value is given more than once")
}

// TestOpenAI uses openai for Node on both mounts.
func TestOpenAI(t *testing.T) {
	t.Parallel()
	for _, mount := range []string{"/api/v1", "/v1"} {
		t.Run(mount, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			got := run(t, "openai.mjs", g.url+mount, decisionCalls(g))
			for name, want := range map[string]string{"answer": decidedAnswers, "settings": decidedAnswers, "typed": typedAnswersSent} {
				require.Nil(t, got[name].Error, "%s: %+v", name, got[name].Error)
				reply := parsed[struct {
					Model   string
					Answers json.RawMessage
					Usage   object
				}](t, got[name])
				assert.JSONEq(t, want, string(reply.Answers), name)
				assert.InDelta(t, 43, reply.Usage["total_tokens"], 0)
				assert.Equal(t, object{"cached_tokens": 0.0, "cache_write_tokens": 0.0}, reply.Usage["input_tokens_details"])
				assert.NotEmpty(t, got[name].RequestID)
			}
			checkRefusals(t, g, got, func(r refusal) string { return r.class })
			sent := g.lab.received("plain")
			require.Len(t, sent, 2)
			assert.NotContains(t, sent[1].body, "user-7")
			assert.NotContains(t, sent[1].body, "prompt_cache")
		})
	}
}

// TestOpenAIStages: a caller of the SDK names a second model for what the first is
// unsure of, by a member that the SDK passes on.
func TestOpenAIStages(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	request := decisionOf("lab/plain")
	request["models"] = []object{{"model": "lab/strong", "when": object{"question": "tone", "confidenceBelow": 0.6}}}
	got := run(t, "openai.mjs", g.url+"/api/v1", []call{{Name: "stages", Key: g.inference, Request: request}})["stages"]
	require.Nil(t, got.Error, "%+v", got.Error)
	reply := parsed[struct {
		Answers []object
		Usage   object
	}](t, got)
	assert.InDelta(t, 0.25, reply.Answers[0]["probability"], 0, "the first model was sure")
	assert.Equal(t, "glad", reply.Answers[1]["choice"])
	assert.InDelta(t, 1.5, reply.Answers[2]["score"], 0)
	assert.InDelta(t, 64, reply.Usage["total_tokens"], 0, "of both models")
	sent := g.lab.received("strong")
	require.Len(t, sent, 1)
	assert.NotContains(t, sent[0].body, "urgent")
}

// TestOpenAIRetries: the SDK retries by itself, after the delay that the upstream asked
// for.
func TestOpenAIRetries(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "openai.mjs", g.url+"/v1", []call{{
		Name: "once", Key: g.inference, Request: decisionOf("lab/limited-once"), Retry: object{"maxRetries": 1},
	}})["once"]
	require.Nil(t, got.Error, "%+v", got.Error)
	arrived := g.lab.received("limited-once")
	require.Len(t, arrived, 2)
	assert.InDelta(t, 10, arrived[1].at.Sub(arrived[0].at).Seconds(), 9.05, "a Retry-After of one second was not honoured")
}

// TestOpenAIGo uses openai-go, and the shapes of its contract tests.
func TestOpenAIGo(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	calls := decisionCalls(g)
	contracts := []string{"tools", "helpers", "cache explicit", "cache implicit", "cache null", "cache absent", "data", "image"}
	for _, name := range contracts {
		calls = append(calls, call{Name: name, Key: g.inference, Call: name})
	}
	got := runGo(t, g.url+"/v1", calls)
	type decision struct {
		Answers                                 json.RawMessage
		Input, Output, Total, Cached, Reasoning float64
	}
	for _, name := range append(contracts[:7:7], "answer", "settings") {
		require.Nil(t, got[name].Error, "%s: %+v", name, got[name].Error)
		reply := parsed[decision](t, got[name])
		assert.JSONEq(t, decidedAnswers, string(reply.Answers), name)
		assert.Equal(t, []float64{40, 3, 43, 0, 0}, []float64{reply.Input, reply.Output, reply.Total, reply.Cached, reply.Reasoning})
		assert.NotEmpty(t, got[name].RequestID)
	}
	// The SDK for Go reads a name of null as an empty text.
	unnamed := parsed[[]object](t, outcome{Value: parsed[decision](t, got["typed"]).Answers})
	assert.Equal(t, []any{"", "", ""}, []any{unnamed[0]["name"], unnamed[1]["name"], unnamed[2]["name"]})
	assert.Equal(t, true, unnamed[1]["choice"])
	assert.Equal(t, []any{
		object{"value": true, "probability": 0.75}, object{"value": "true", "probability": 0.25}, object{"value": false, "probability": 0.0},
	}, unnamed[1]["probabilities"])
	checkRefusals(t, g, got, func(refusal) string { return "Error" })
	require.NotNil(t, got["image"].Error)
	assert.Equal(t, "input.0.content.1", got["image"].Error.Param)
	assert.Contains(t, got["image"].Error.Message, "images are not supported")

	// What each shape of an input became.
	states := map[string]string{
		"tools": `[{"role":"user","content":"a parcel"},{"role":"developer","content":[{"type":"input_text","text":"be strict"}]},
			{"role":"system","content":[{"type":"input_text","text":"be fair"}]},{"type":"function_call","call_id":"c1","name":"track","arguments":"{\"id\":7}"},
			{"type":"function_call_output","call_id":"c1","output":"delivered"},{"type":"custom_tool_call","call_id":"c2","name":"note","input":"late"},
			{"type":"custom_tool_call_output","call_id":"c2","output":"noted"}]`,
		"helpers": `[{"role":"user","content":"a parcel"},{"role":"developer","content":"be strict"},{"role":"system","content":"be fair"},{"role":"assistant","content":"it is late"}]`,
		"data":    `[{"parcel":true}]`,
	}
	sent := g.lab.received("plain")
	require.Len(t, sent, len(contracts)+1, "all but the image, and the two other answers")
	for i, name := range append([]string{"answer", "settings"}, contracts[:7]...) {
		var body struct {
			State     json.RawMessage
			Questions map[string]struct{ Instructions json.RawMessage }
		}
		require.NoError(t, json.Unmarshal([]byte(sent[i].body), &body))
		want := states[name]
		if want == "" {
			want = `"a parcel"`
		}
		assert.JSONEq(t, want, string(body.State), name)
		if i > 1 {
			assert.JSONEq(t, `{"evidence":{"late":true}}`, string(body.Questions["urgent"].Instructions), name)
		}
	}
}

// runGo passes calls to the program in the folder openaigo, which is a module of its
// own. It skips the test if the packages of that module are not in the module cache.
func runGo(t *testing.T, baseURL string, calls []call) map[string]outcome {
	t.Helper()
	for _, name := range []string{"main.go", "contracts.go", "go.mod", "go.sum"} {
		_, err := os.ReadFile("openaigo/" + name) // so that the test cache knows it
		require.NoError(t, err)
	}
	goCommand := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "openaigo"
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
		return cmd
	}
	if text, err := goCommand("list", "-deps", ".").CombinedOutput(); err != nil {
		if os.Getenv("SIGNALBOX_TEST_NOSKIP") == "1" {
			t.Fatalf("openai-go is promised here (go -C internal/sdktest/openaigo mod download): %v: %s", err, text)
		}
		t.Skipf("needs openai-go (go -C internal/sdktest/openaigo mod download): %v", err)
	}
	return exchange(t, goCommand("run", "."), baseURL, calls)
}
