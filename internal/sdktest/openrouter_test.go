package sdktest

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// object is a JSON object.
type object = map[string]any

// questions returns questions of every type, with guidance in every form that the SDK
// can send.
func questions() object {
	return object{
		"urgent": object{"type": "noul", "instructions": object{"ask": "Is it urgent?"}, "criteria": object{"true": "soon", "false": []string{"whenever"}}},
		"tone":   object{"type": "choice", "instructions": "Which tone?", "criteria": object{"glad": nil, "sad": object{"like": "tears"}}},
		"grade":  object{"type": "score", "instructions": []string{"How good?"}, "criteria": []any{"poor", object{"is": "fair"}, []string{"good"}}},
	}
}

// decision returns a request of the OpenRouter SDK for a model, with more members.
func decision(model string, more object) object {
	request := object{"model": model, "state": object{"text": "a parcel"}, "questions": questions()}
	maps.Copy(request, more)
	return object{"decisionsRequest": request}
}

// decided is the reply as the SDK returns it.
type decided struct {
	ID       string `json:"id"`
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Usage    struct {
		InputTokens  int     `json:"inputTokens"`
		OutputTokens int     `json:"outputTokens"`
		Cost         float64 `json:"cost"`
	} `json:"usage"`
	Answers json.RawMessage `json:"answers"`
}

func TestOpenRouterAnswers(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	all := object{
		"sessionId": "session-1", "user": "user-7",
		"trace": object{"traceId": "trace-1", "spanName": "span", "additionalProperties": object{"ticket": 9}},
		"provider": object{
			"allowFallbacks": true, "dataCollection": "deny", "enforceDistillableText": true, "ignore": []string{"nobody"},
			"only": []string{"lab", "careless"}, "order": []string{"lab"}, "quantizations": []string{"fp8"},
			"maxPrice":            object{"prompt": "1", "completion": "2.0", "request": "0.001", "image": "1", "audio": "1"},
			"preferredMaxLatency": object{"p50": 5, "p99": nil}, "preferredMinThroughput": 0.5, "requireParameters": true,
			"sort": object{"by": "price", "partition": "model"}, "zdr": true,
		},
	}
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{
		{Name: "all", Key: g.inference, Call: "systemOne.create", Request: decision("lab/answer", all)},
	})["all"]
	require.Nil(t, got.Error, "%+v", got.Error)
	var reply decided
	require.NoError(t, json.Unmarshal(got.Value, &reply))
	assert.Regexp(t, `^gen-dec-[0-9a-f]{32}$`, reply.ID)
	assert.Equal(t, "Scripted Lab", reply.Provider)
	assert.Equal(t, 40, reply.Usage.InputTokens)
	assert.Equal(t, 3, reply.Usage.OutputTokens)
	assert.InDelta(t, 0.001046, reply.Usage.Cost, 1e-15) // 40 × 1 + 3 × 2 millionths and 0.001
	// An answer that the SDK cannot parse would have the type UNKNOWN here.
	assert.JSONEq(t, `{
		"urgent": {"type": "noul", "noul": 0.25},
		"tone": {"type": "choice", "choice": "sad", "confidence": 0.5, "probabilities": {"glad": 0.25, "sad": 0.75}},
		"grade": {"type": "score", "score": 1.5, "confidence": 0.25, "probabilities": {"0": 0.125, "1": 0.25, "2": 0.625},
			"legend": {"0": "poor", "1": {"is": "fair"}, "2": ["good"]}}
	}`, string(reply.Answers))

	upstream := g.lab.received("answer")
	require.Len(t, upstream, 1)
	for _, private := range []string{"session-1", "trace-1", "user-7", "provider", g.inference} {
		assert.NotContains(t, upstream[0].body, private)
	}
	assert.Equal(t, "Bearer upstream-key", upstream[0].header.Get("Authorization"))
	assert.NotContains(t, upstream[0].header.Get("User-Agent"), "speakeasy")
}

// TestOpenRouterPreferences: each preference takes effect. The careless provider is the
// cheaper one, so it comes first unless a preference excludes it.
func TestOpenRouterPreferences(t *testing.T) {
	t.Parallel()
	const lab, careless = "Scripted Lab", "Careless"
	cases := []struct {
		name, model string
		provider    object
		more        object
		want        string // provider, or the class of the error
	}{
		{"sort", "answer", object{"sort": "price"}, nil, careless},
		{"sort object", "answer", object{"sort": object{"by": "price", "partition": "none"}}, nil, careless},
		{"data collection", "answer", object{"sort": "price", "dataCollection": "deny"}, nil, lab},
		{"zdr", "answer", object{"sort": "price", "zdr": true}, nil, lab},
		{"quantizations", "answer", object{"sort": "price", "quantizations": []string{"fp8"}}, nil, lab},
		{"require parameters", "answer", object{"sort": "price", "requireParameters": true}, object{"user": "u"}, lab},
		{"ignore", "answer", object{"sort": "price", "ignore": []string{"Careless"}}, nil, lab},
		{"only", "answer", object{"sort": "price", "only": []string{"lab"}}, nil, lab},
		{"order", "answer", object{"sort": "price", "order": []string{"lab"}}, nil, lab},
		{"max price", "answer", object{"order": []string{"lab"}, "maxPrice": object{"prompt": "0.6"}}, nil, careless},
		{"distillable", "answer", object{"order": []string{"lab"}, "enforceDistillableText": true}, nil, lab},
		{"not distillable", "guarded", object{"enforceDistillableText": true}, nil, "NotFoundResponseError"},
		{"latency and throughput", "answer", object{"order": []string{"lab"}, "preferredMaxLatency": 5, "preferredMinThroughput": object{"p90": 1}}, nil, lab},
		{"nulls", "answer", object{"order": []string{"lab"}, "sort": nil, "only": nil, "ignore": nil, "zdr": nil, "quantizations": nil}, nil, lab},
		{"fallbacks", "half", object{"order": []string{"lab"}, "allowFallbacks": true}, nil, careless},
		{"no fallbacks", "half", object{"order": []string{"lab"}, "allowFallbacks": false}, nil, "ServiceUnavailableResponseError"},
	}
	g := newGateway(t)
	var calls []call
	for _, c := range cases {
		more := object{"provider": c.provider}
		maps.Copy(more, c.more)
		calls = append(calls, call{Name: c.name, Key: g.inference, Call: "systemOne.create", Request: decision("lab/"+c.model, more)})
	}
	got := run(t, "openrouter.mjs", g.url+"/api/v1", calls)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := got[c.name]
			if o.Error != nil {
				assert.Equal(t, c.want, o.Error.Class, o.Error.Message)
				return
			}
			var reply decided
			require.NoError(t, json.Unmarshal(o.Value, &reply))
			assert.Equal(t, c.want, reply.Provider)
		})
	}
}

// TestOpenRouterErrors provokes each documented status and checks the SDK's typed
// error.
func TestOpenRouterErrors(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	tooLong := object{"state": strings.Repeat("x", 5<<20)}
	cases := []struct {
		name    string
		key     string
		request object
		class   string
		status  int
		kind    string // error_type
		message string
	}{
		{"400 no question", g.inference, decision("lab/answer", object{"questions": object{}}), "BadRequestResponseError", 400, "invalid_request", "Invalid request parameters"},
		{"400 unknown word", g.inference, decision("lab/answer", object{"provider": object{"sort": "beauty"}}), "BadRequestResponseError", 400, "invalid_request", "Invalid request parameters"},
		{"400 unknown model", g.inference, decision("lab/none", nil), "BadRequestResponseError", 400, "invalid_request", "lab/none is not a valid model ID"},
		{"400 upstream", g.inference, decision("lab/refused", nil), "BadRequestResponseError", 400, "invalid_request", ""},
		{"401 unknown key", "sk-rt-v1-none", decision("lab/answer", nil), "UnauthorizedResponseError", 401, "authentication", "Invalid API key"},
		{"401 disabled key", g.disabled, decision("lab/answer", nil), "UnauthorizedResponseError", 401, "authentication", "API key disabled"},
		{"402", g.inference, decision(modelUnpaid, nil), "PaymentRequiredResponseError", 402, "payment_required", "Insufficient credits"},
		{"403", g.management, decision("lab/answer", nil), "ForbiddenResponseError", 403, "permission_denied", "Management keys cannot be used for inference"},
		{"404", g.inference, decision("lab/answer", object{"provider": object{"only": []string{"nobody"}}}), "NotFoundResponseError", 404, "not_found", "No endpoints found for lab/answer"},
		{"413 body", g.inference, decision("lab/answer", tooLong), "PayloadTooLargeResponseError", 413, "payload_too_large", ""},
		{"413 upstream", g.inference, decision("lab/large", nil), "PayloadTooLargeResponseError", 413, "payload_too_large", ""},
		{"429", g.inference, decision("lab/limited", nil), "TooManyRequestsResponseError", 429, "rate_limit_exceeded", ""},
		{"500", g.inference, decision(modelBroken, nil), "InternalServerResponseError", 500, "server", ""},
		{"502 failing", g.inference, decision("lab/failing", nil), "BadGatewayResponseError", 502, "provider_unavailable", ""},
		{"502 untrusted", g.inference, decision("lab/untrusted", nil), "BadGatewayResponseError", 502, "provider_unavailable", ""},
		{"503 full", g.inference, decision("lab/full", nil), "ServiceUnavailableResponseError", 503, "no_capacity", ""},
		{"503 off", g.inference, decision("lab/off", nil), "ServiceUnavailableResponseError", 503, "no_capacity", ""},
		{"524 slow", g.inference, decision("lab/slow", nil), "EdgeNetworkTimeoutResponseError", 524, "timeout", ""},
		{"524 hanging", g.inference, decision("lab/hanging", nil), "EdgeNetworkTimeoutResponseError", 524, "timeout", ""},
		{"529", g.inference, decision("lab/overloaded", nil), "ProviderOverloadedResponseError", 529, "provider_overloaded", ""},
	}
	var calls []call
	for _, c := range cases {
		calls = append(calls, call{
			Name: c.name, Key: c.key, Call: "systemOne.create", Request: c.request,
			Headers: map[string]string{"X-OpenRouter-Metadata": "enabled", "X-Request-Id": "request " + c.name[:3]},
		})
	}
	got := run(t, "openrouter.mjs", g.url+"/api/v1", calls)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := got[c.name].Error
			require.NotNil(t, err, "%s", got[c.name].Value)
			assert.Equal(t, c.class, err.Class, err.Message)
			assert.Equal(t, c.status, err.Status)
			assert.Equal(t, c.status, err.Error.Code)
			assert.Equal(t, c.kind, err.Error.Metadata["error_type"])
			assert.NotEmpty(t, err.Message)
			if c.message != "" {
				assert.Equal(t, c.message, err.Message)
			}
			assert.NotEmpty(t, err.RequestID)
		})
	}

	limited := got["429"].Error
	require.NotNil(t, limited)
	assert.Equal(t, "7", limited.RetryAfter)
	assert.Equal(t, "Scripted Lab", limited.Error.Metadata["provider_name"])
	assert.Equal(t, "user-1", limited.UserID)
	// The brand option renames router_metadata to the member that this SDK knows.
	assert.Equal(t, "lab/limited", limited.Metadata["requested"])
	assert.Contains(t, limited.Metadata, "attempts")
	assert.Contains(t, got["400 no question"].Error.Error.Metadata, "issues")
	assert.Contains(t, got["404"].Error.Error.Metadata, "excluded_by")
}

// TestOpenRouterRetries: the SDK retries by itself, and its second request is answered.
func TestOpenRouterRetries(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{{
		Name: "once", Key: g.inference, Call: "systemOne.create", Request: decision("lab/full-once", nil),
		Retry: object{"strategy": "backoff", "backoff": object{"initialInterval": 1, "maxInterval": 60000, "exponent": 1, "maxElapsedTime": 60000}},
	}})["once"]
	require.Nil(t, got.Error, "%+v", got.Error)
	asked := g.lab.received("full-once")
	require.Len(t, asked, 2)
	waited := asked[1].at.Sub(asked[0].at)
	assert.InDelta(t, 10, waited.Seconds(), 9.05, "a Retry-After of one second was not honoured")
}

// metadata is the router metadata as the SDK's schema returns it.
type metadata struct {
	Attempt   int    `json:"attempt"`
	Requested string `json:"requested"`
	Strategy  string `json:"strategy"`
	Summary   string `json:"summary"`
	Endpoints struct {
		Total int `json:"total"`
	} `json:"endpoints"`
	Attempts []struct {
		Provider string `json:"provider"`
		Status   int    `json:"status"`
	} `json:"attempts"`
}

// TestOpenRouterMetadata parses the metadata of a success with the SDK's schema,
// because the SDK's own call drops it.
func TestOpenRouterMetadata(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	request := object{"model": "lab/half", "state": "a parcel", "questions": questions(), "provider": object{"order": []string{"lab"}}}
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{{
		Name: "fallback", Key: g.inference, Call: "metadata", Request: request,
		Headers: map[string]string{"X-OpenRouter-Metadata": "enabled"},
	}})["fallback"]
	require.Nil(t, got.Error, "%+v", got.Error)
	var reply struct {
		Status   int      `json:"status"`
		Metadata metadata `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal(got.Value, &reply))
	assert.Equal(t, 200, reply.Status)
	m := reply.Metadata
	assert.Equal(t, "lab/half", m.Requested)
	assert.Equal(t, 2, m.Attempt)
	assert.NotEmpty(t, m.Strategy)
	assert.NotEmpty(t, m.Summary)
	assert.Equal(t, 2, m.Endpoints.Total)
	require.Len(t, m.Attempts, 2)
	assert.Equal(t, "Scripted Lab", m.Attempts[0].Provider)
	assert.Equal(t, 503, m.Attempts[0].Status)
	assert.Equal(t, "Careless", m.Attempts[1].Provider)
	assert.Equal(t, 200, m.Attempts[1].Status)
}

// TestOpenRouterListings parses the listings with the SDK's schemas, in which nearly
// every member is required.
func TestOpenRouterListings(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{
		{Name: "models", Key: g.inference, Call: "models.list"},
		{Name: "pages", Key: g.inference, Call: "pages", Request: object{"limit": 4}},
		{Name: "providers", Key: g.inference, Call: "providers.list"},
	})
	for name, o := range got {
		require.Nil(t, o.Error, "%s: %+v", name, o.Error)
	}

	var models struct {
		Data []struct {
			ID            string `json:"id"`
			CanonicalSlug string `json:"canonicalSlug"`
			Architecture  struct {
				OutputModalities []string `json:"outputModalities"`
			} `json:"architecture"`
		} `json:"data"`
		TotalCount int `json:"totalCount"`
	}
	require.NoError(t, json.Unmarshal(got["models"].Value, &models))
	require.Len(t, models.Data, models.TotalCount)
	var ids []string
	for _, m := range models.Data {
		ids = append(ids, m.ID)
		assert.Equal(t, m.ID+"-20261101", m.CanonicalSlug)
		assert.Equal(t, []string{"decisions"}, m.Architecture.OutputModalities)
	}
	assert.Contains(t, ids, "lab/answer")

	var pages [][]string
	require.NoError(t, json.Unmarshal(got["pages"].Value, &pages))
	assert.Greater(t, len(pages), 2)
	var paged []string
	for _, page := range pages {
		assert.LessOrEqual(t, len(page), 4)
		paged = append(paged, page...)
	}
	assert.Equal(t, ids, paged)

	type provider struct {
		Name    string `json:"name"`
		Slug    string `json:"slug"`
		Privacy string `json:"privacyPolicyUrl"`
	}
	var providers struct {
		Data []provider `json:"data"`
	}
	require.NoError(t, json.Unmarshal(got["providers"].Value, &providers))
	assert.Contains(t, providers.Data, provider{"Scripted Lab", "lab", "https://lab.example/privacy"})
}

// TestOpenRouterEndpoints checks the endpoints of a model as the SDK returns them.
func TestOpenRouterEndpoints(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "openrouter.mjs", g.url+"/api/v1", []call{
		{Name: "sound", Key: g.inference, Call: "endpoints.list", Request: object{"author": "lab", "slug": "answer"}},
		{Name: "off", Key: g.inference, Call: "endpoints.list", Request: object{"author": "lab", "slug": "off"}},
		{Name: "none", Key: g.inference, Call: "endpoints.list", Request: object{"author": "lab", "slug": "none"}},
	})
	require.NotNil(t, got["none"].Error)
	assert.Equal(t, "NotFoundResponseError", got["none"].Error.Class)
	type endpoint struct {
		ProviderName  string `json:"providerName"`
		ModelID       string `json:"modelId"`
		Quantization  string `json:"quantization"`
		Status        int    `json:"status"`
		ContextLength int    `json:"contextLength"`
		Pricing       struct {
			Prompt     string `json:"prompt"`
			Completion string `json:"completion"`
			Request    string `json:"request"`
		} `json:"pricing"`
	}
	list := func(name string) []endpoint {
		require.Nil(t, got[name].Error, "%+v", got[name].Error)
		var reply struct {
			Data struct {
				Endpoints []endpoint `json:"endpoints"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal(got[name].Value, &reply))
		return reply.Data.Endpoints
	}
	sound := list("sound")
	require.Len(t, sound, 2)
	lab := sound[0]
	if lab.ProviderName != "Scripted Lab" {
		lab = sound[1]
	}
	assert.Equal(t, "lab/answer", lab.ModelID)
	assert.Equal(t, "fp8", lab.Quantization)
	assert.Equal(t, 8192, lab.ContextLength)
	assert.Zero(t, lab.Status)
	assert.Equal(t, "0.000001", lab.Pricing.Prompt)
	assert.Equal(t, "0.000002", lab.Pricing.Completion)
	assert.Equal(t, "0.001", lab.Pricing.Request)
	off := list("off")
	require.Len(t, off, 1)
	assert.Equal(t, -10, off[0].Status)
}
