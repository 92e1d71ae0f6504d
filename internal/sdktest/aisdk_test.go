package sdktest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAISDKProvider uses @openrouter/ai-sdk-provider, which sends decisions to the
// alpha path beside the base URL.
func TestAISDKProvider(t *testing.T) {
	t.Parallel()
	m := newManaged(t)
	asked := func(model string) object {
		return object{
			"model": model, "state": object{"text": "a parcel"},
			"questions": object{
				"urgent": object{"type": "boolean", "instructions": "Is it urgent?", "criteria": object{"true": "soon", "false": "whenever"}},
				"tone":   object{"type": "choice", "instructions": "Which tone?", "criteria": object{"glad": "smiles", "sad": "tears"}},
				"grade":  object{"type": "score", "instructions": "How good?", "criteria": []string{"poor", "fair", "good"}},
			},
			"settings": object{
				"user": "user-7", "session_id": "session-1", "trace": object{"trace_id": "trace-1"},
				"provider": object{"order": []string{"lab"}, "allow_fallbacks": false},
			},
		}
	}
	key := string(m.seeded.Inference)
	got := run(t, "aisdk.mjs", m.url, []call{
		{Name: "answer", Key: key, Request: asked("lab/answer")},
		{Name: "no model", Key: key, Request: asked("lab/none")},
		{Name: "no key", Key: "sk-rt-v1-nobodys", Request: asked("lab/answer")},
		{Name: "management", Key: string(m.seeded.Management), Request: asked("lab/answer")},
		{Name: "limited", Key: key, Request: asked("lab/limited")},
	})
	require.Nil(t, got["answer"].Error, "%+v", got["answer"].Error)
	reply := parsed[struct {
		Answers, Metadata, Usage object
		ID, Model                string
	}](t, got["answer"])
	assert.Regexp(t, `^gen-dec-[0-9a-f]{32}$`, reply.ID)
	assert.Equal(t, "lab/answer-20261101", reply.Model)
	same(t, object{
		"urgent": object{"type": "boolean", "probability": 0.25},
		"tone":   object{"type": "choice", "choice": "sad", "probabilities": object{"glad": 0.25, "sad": 0.75}},
		"grade":  object{"type": "score", "score": 1.5, "probabilities": object{"0": 0.125, "1": 0.25, "2": 0.625}},
	}, reply.Answers)
	provider, ok := reply.Metadata["openrouter"].(object)
	require.True(t, ok)
	assert.Equal(t, "Scripted Lab", provider["provider"])
	assert.Equal(t, object{"cost": 0.001046}, provider["usage"])

	for name, status := range map[string]int{"no model": 400, "no key": 401, "management": 403, "limited": 429} {
		if err := got[name].Error; assert.NotNil(t, err, "%s: %s", name, got[name].Value) {
			assert.Equal(t, status, err.Status, "%s: %s: %s", name, err.Class, err.Message)
		}
	}
}

// TestAISDKOpenAI uses @ai-sdk/openai, which sends decisions to the path /decisions.
func TestAISDKOpenAI(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "aisdk.mjs", g.url+"/v1", []call{
		{Name: "answer", Key: g.inference, Call: "openai", Request: evaluation("lab/plain")},
		{Name: "limited", Key: g.inference, Call: "openai", Request: evaluation("lab/limited")},
		{Name: "no key", Key: "sk-rt-v1-none", Call: "openai", Request: evaluation("lab/plain")},
		{Name: "no model", Key: g.inference, Call: "openai", Request: evaluation("lab/none")},
	})
	checkEvaluation(t, got["answer"])
	for name, want := range map[string]string{
		"limited": "Rate limit exceeded", "no key": "Invalid API key", "no model": "lab/none is not a valid model ID",
	} {
		if err := got[name].Error; assert.NotNil(t, err, "%s: %s", name, got[name].Value) {
			assert.Equal(t, want, err.Message, name)
		}
	}
	var body struct {
		State     json.RawMessage
		Questions map[string]struct{ Instructions, Criteria json.RawMessage }
	}
	require.NoError(t, json.Unmarshal([]byte(g.lab.received("plain")[0].body), &body))
	assert.JSONEq(t, `{"text":"a parcel"}`, string(body.State))
	assert.JSONEq(t, `"Is it urgent?\n\nCriteria for true:\nsoon\n\nCriteria for false:\nwhenever"`, string(body.Questions["urgent"].Instructions))
	assert.JSONEq(t, `{"glad":"smiles","sad":"tears"}`, string(body.Questions["tone"].Criteria))
	assert.JSONEq(t, `["poor","fair","good"]`, string(body.Questions["grade"].Criteria), "a label that is only the index is no text")
}

// TestAISDKTypeSafe uses @ai-sdk/typesafe-ai on the native mount.
func TestAISDKTypeSafe(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "aisdk.mjs", g.url+"/v1", []call{
		{Name: "answer", Key: g.inference, Call: "typesafe", Request: evaluation("lab/plain")},
		{Name: "limited", Key: g.inference, Call: "typesafe", Request: evaluation("lab/limited")},
	})
	checkEvaluation(t, got["answer"])
	require.NotNil(t, got["limited"].Error)
	assert.Equal(t, "Rate limit exceeded", got["limited"].Error.Message)
}

// TestAISDKGatewayOptions: @ai-sdk/typesafe-ai has no setting for the options of a
// gateway, so a program adds them to the body. The second model is asked everything, as
// those clients expect.
func TestAISDKGatewayOptions(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	request := evaluation("lab/plain")
	request["body"] = object{"providerOptions": object{"gateway": object{
		"only":   []string{"lab"},
		"models": []object{{"model": "lab/strong", "when": object{"any": []object{{"question": "tone", "confidenceBelow": 0.6}}}}},
	}}}
	got := run(t, "aisdk.mjs", g.url+"/v1", []call{{Name: "stages", Key: g.inference, Call: "typesafe", Request: request}})["stages"]
	require.Nil(t, got.Error, "%+v", got.Error)
	reply := parsed[struct {
		Answers object
		Model   string
	}](t, got)
	same(t, object{
		"urgent": object{"type": "boolean", "probability": 0.75},
		"tone":   object{"type": "choice", "choice": "glad", "probabilities": object{"glad": 1, "sad": 0}},
		"grade":  object{"type": "score", "score": 2, "probabilities": object{"0": 0, "1": 0, "2": 1}},
	}, reply.Answers)
	assert.Equal(t, "lab/strong-20261101", reply.Model)
	assert.Len(t, g.lab.received("plain"), 1)
}

// evaluation is a request of the AI SDK.
func evaluation(model string) object {
	return object{
		"model": model, "state": object{"text": "a parcel"},
		"questions": object{
			"urgent": object{"type": "boolean", "instructions": "Is it urgent?", "criteria": object{"true": "soon", "false": "whenever"}},
			"tone":   object{"type": "choice", "instructions": "Which tone?", "criteria": object{"glad": "smiles", "sad": "tears"}},
			"grade":  object{"type": "score", "instructions": "How good?", "criteria": []string{"poor", "fair", "good"}},
		},
	}
}

func checkEvaluation(t *testing.T, got outcome) {
	t.Helper()
	require.Nil(t, got.Error, "%+v", got.Error)
	reply := parsed[struct {
		Answers, Usage object
		Model          string
	}](t, got)
	same(t, object{
		"urgent": object{"type": "boolean", "probability": 0.25},
		"tone":   object{"type": "choice", "choice": "sad", "probabilities": object{"glad": 0.25, "sad": 0.75}},
		"grade":  object{"type": "score", "score": 1.5, "probabilities": object{"0": 0.125, "1": 0.25, "2": 0.625}},
	}, reply.Answers)
	assert.Equal(t, "lab/plain-20261101", reply.Model)
	assert.InDelta(t, 40, reply.Usage["inputTokens"], 0)
}
