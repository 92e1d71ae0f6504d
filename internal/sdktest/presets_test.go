package sdktest

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// savedPreset is a preset as the SDK returns it.
type savedPreset struct {
	ID                  string       `json:"id"`
	Slug                string       `json:"slug"`
	Name                string       `json:"name"`
	Description         *string      `json:"description"`
	Status              string       `json:"status"`
	CreatedAt           time.Time    `json:"createdAt"`
	UpdatedAt           time.Time    `json:"updatedAt"`
	CreatorUserID       string       `json:"creatorUserId"`
	WorkspaceID         string       `json:"workspaceId"`
	DesignatedVersionID string       `json:"designatedVersionId"`
	DesignatedVersion   savedVersion `json:"designatedVersion"`
}

type savedVersion struct {
	ID           string  `json:"id"`
	PresetID     string  `json:"presetId"`
	Version      int     `json:"version"`
	Config       object  `json:"config"`
	SystemPrompt *string `json:"systemPrompt"`
	CreatorID    string  `json:"creatorId"`
}

// fullChat returns a chat with every member that the SDK can send, except variants of
// other members.
func fullChat() object {
	return object{
		"model": "lab/answer", "models": []string{"lab/second"}, "temperature": 0.5, "topP": 0.5, "topK": 3, "minP": 0.1, "topA": 0.2,
		"repetitionPenalty": 1.1, "frequencyPenalty": -1, "presencePenalty": 2, "logitBias": object{"50256": -100}, "logprobs": true, "topLogprobs": 20,
		"maxCompletionTokens": 10, "maxTokens": 16, "seed": 7, "stop": []string{"a", "b"}, "modalities": []string{"text"}, "parallelToolCalls": false,
		"tools":      []any{object{"type": "function", "function": object{"name": "f", "parameters": object{}}}},
		"toolChoice": "auto", "stopServerToolsWhen": []any{object{"type": "step_count_is", "stepCount": 2}, object{"type": "max_cost", "maxCostInDollars": 0.5}},
		"plugins": []any{object{"id": "moderation"}}, "prediction": object{"type": "content", "content": "x"}, "responseFormat": object{"type": "json_object"},
		"reasoning": object{"effort": "low", "summary": "auto"}, "reasoningEffort": "low", "serviceTier": "flex",
		"provider":     object{"sort": "price", "ignore": []string{"careless"}, "dataCollection": "deny"},
		"cacheControl": object{"type": "ephemeral"}, "promptCacheOptions": object{"mode": "explicit"}, "imageConfig": object{"aspect_ratio": "1:1"},
		"metadata": object{"team": "billing"}, "sessionId": "s", "user": "u", "stream": false, "debug": object{"echoUpstreamBody": true},
		"streamOptions": object{"includeUsage": true}, "trace": object{"traceId": "t"}, "promptCacheKey": "k",
		"messages": []any{object{"role": "system", "content": "Be brief."}, object{"role": "user", "content": "hi"}},
	}
}

// kept lists the members of fullChat that a preset stores, by the names in the reply.
func kept() []string {
	return []string{
		"model", "models", "temperature", "top_p", "top_k", "min_p", "top_a", "repetition_penalty", "frequency_penalty", "presence_penalty",
		"logit_bias", "logprobs", "top_logprobs", "max_completion_tokens", "max_tokens", "seed", "stop", "modalities", "parallel_tool_calls", "tools",
		"tool_choice", "stop_server_tools_when", "plugins", "prediction", "response_format", "reasoning", "reasoning_effort", "service_tier", "provider",
		"cache_control", "prompt_cache_options", "image_config", "metadata",
	}
}

// parsed decodes the value of a successful outcome.
func parsed[T any](t *testing.T, got outcome) T {
	t.Helper()
	require.Nil(t, got.Error, "%+v", got.Error)
	var v T
	require.NoError(t, json.Unmarshal(got.Value, &v))
	return v
}

func TestOpenRouterPresets(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	with := func(name, key, method string, request object) call {
		return call{Name: name, Key: key, Call: "presets." + method, Request: request}
	}
	messages := object{"model": "lab/answer", "maxTokens": 5, "system": "Be kind.", "messages": []any{object{"role": "user", "content": "hi"}}}
	responses := object{"model": "lab/answer", "instructions": "Be exact.", "input": "hi", "provider": object{"order": []string{"lab"}}}
	hot := fullChat()
	hot["temperature"] = 2.5
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{
		with("chat", g.management, "createPresetsChatCompletions", object{"slug": "p", "chatRequest": fullChat()}),
		with("messages", g.management, "createPresetsMessages", object{"slug": "p", "messagesRequest": messages}),
		with("responses", g.management, "createPresetsResponses", object{"slug": "q", "responsesRequest": responses}),
		with("list", g.management, "list", object{}),
		with("get", g.management, "get", object{"slug": "p"}),
		with("versions", g.management, "listVersions", object{"slug": "p", "limit": 1}),
		with("version", g.management, "getVersion", object{"slug": "p", "version": "1"}),
		{Name: "used", Key: g.inference, Call: "systemOne.create", Request: decision("@preset/q", nil)},
		{Name: "not used", Key: g.inference, Call: "systemOne.create", Request: decision("@preset/none", nil)},
		with("too hot", g.management, "createPresetsChatCompletions", object{"slug": "p", "chatRequest": hot}),
		with("no slug", g.management, "get", object{"slug": "a b"}),
		with("unknown", g.management, "get", object{"slug": "none"}),
		with("inference", g.inference, "createPresetsMessages", object{"slug": "p", "messagesRequest": messages}),
		with("disabled", g.disabled, "list", object{}),
	})

	first := parsed[struct{ Data savedPreset }](t, got["chat"]).Data
	assert.Equal(t, "p", first.Slug)
	assert.Equal(t, "p", first.Name)
	assert.Equal(t, "active", first.Status)
	assert.Equal(t, "user-1", first.CreatorUserID)
	assert.Equal(t, workspaceID, first.WorkspaceID)
	assert.Equal(t, first.DesignatedVersionID, first.DesignatedVersion.ID)
	assert.Equal(t, first.ID, first.DesignatedVersion.PresetID)
	assert.Equal(t, 1, first.DesignatedVersion.Version)
	assert.Equal(t, "Be brief.", *first.DesignatedVersion.SystemPrompt)
	assert.ElementsMatch(t, kept(), slices.Collect(maps.Keys(first.DesignatedVersion.Config)))
	assert.InDelta(t, 0.5, first.DesignatedVersion.Config["temperature"], 0)

	second := parsed[struct{ Data savedPreset }](t, got["messages"]).Data
	assert.Equal(t, first.ID, second.ID)
	assert.Equal(t, 2, second.DesignatedVersion.Version)
	assert.Equal(t, "Be kind.", *second.DesignatedVersion.SystemPrompt)
	other := parsed[struct{ Data savedPreset }](t, got["responses"]).Data
	assert.Equal(t, "Be exact.", *other.DesignatedVersion.SystemPrompt)

	list := parsed[struct {
		Data       []savedPreset
		TotalCount int
	}](t, got["list"])
	assert.Equal(t, 2, list.TotalCount)
	require.Len(t, list.Data, 2)
	assert.Equal(t, "q", list.Data[0].Slug, "the newest update first")
	assert.Equal(t, second, parsed[struct{ Data savedPreset }](t, got["get"]).Data)
	versions := parsed[struct {
		Data       []savedVersion
		TotalCount int
	}](t, got["versions"])
	assert.Equal(t, 2, versions.TotalCount)
	assert.Equal(t, []savedVersion{first.DesignatedVersion}, versions.Data)
	assert.Equal(t, first.DesignatedVersion, parsed[struct{ Data savedVersion }](t, got["version"]).Data)

	assert.Equal(t, "Scripted Lab", parsed[decided](t, got["used"]).Provider, "where the preset's order leads")
	for name, want := range map[string]string{
		"not used": "NotFoundResponseError", "unknown": "NotFoundResponseError", "too hot": "BadRequestResponseError", "no slug": "BadRequestResponseError",
		"inference": "ForbiddenResponseError", "disabled": "UnauthorizedResponseError",
	} {
		require.NotNil(t, got[name].Error, name)
		assert.Equal(t, want, got[name].Error.Class, name)
	}
}
