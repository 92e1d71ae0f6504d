package sdktest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// made is a call of one of the SDK's helpers for questions: the kind, then the
// arguments.
type made = []any

// asked returns a request of the TypeSafe SDK for a model.
func asked(model string) object {
	return object{"model": model, "state": "a parcel", "questions": object{
		"urgent": made{"noul", "Is it urgent?"},
		"tone":   made{"choice", "Which tone?", object{"glad": nil, "sad": "tears"}},
		"grade":  made{"score", "How good?", made{"poor", "fair", "good"}},
	}}
}

// told is the reply, which the SDK returns unchanged.
type told struct {
	Model   string          `json:"model"`
	Usage   object          `json:"usage"`
	Answers json.RawMessage `json:"answers"`
}

func TestTypeSafeNulls(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "typesafe.mjs", g.url, []call{{
		Name: "nulls", Key: g.inference, Call: "systemOne",
		Request: object{"model": "nulls-latest", "state": nil, "questions": object{
			"urgent": made{"noul"},
			"side":   made{"noul", nil, object{"true": "soon"}},
			"tone":   made{"choice", nil, object{"glad": nil, "sad": nil}},
			"grade":  made{"score", nil, made{"poor", nil, "good"}},
		}},
	}})["nulls"]
	require.Nil(t, got.Error, "%+v", got.Error)
	var reply told
	require.NoError(t, json.Unmarshal(got.Value, &reply))
	// A null level has no entry in the legend.
	assert.JSONEq(t, `{
		"urgent": {"type": "noul", "noul": 0.25},
		"side": {"type": "noul", "noul": 0.5},
		"tone": {"type": "choice", "choice": "sad", "confidence": 0.5, "probabilities": {"glad": 0.25, "sad": 0.75}},
		"grade": {"type": "score", "score": 1.5, "confidence": 0.25, "probabilities": {"0": 0.125, "1": 0.25, "2": 0.625},
			"legend": {"0": "poor", "2": "good"}}
	}`, string(reply.Answers))
	assert.InDelta(t, 40, reply.Usage["input_tokens"], 0)
	assert.InDelta(t, 4, reply.Usage["output_tokens"], 0)
	assert.NotEmpty(t, reply.Model)
	assert.NotEmpty(t, got.RequestID, "x-typesafe-request-id")

	upstream := g.lab.received("nulls")
	require.Len(t, upstream, 1)
	var sent struct {
		State     json.RawMessage `json:"state"`
		Questions map[string]struct {
			Criteria json.RawMessage `json:"criteria"`
		} `json:"questions"`
	}
	require.NoError(t, json.Unmarshal([]byte(upstream[0].body), &sent))
	assert.Equal(t, "null", string(sent.State))
	assert.Equal(t, `["poor",null,"good"]`, string(sent.Questions["grade"].Criteria))
	assert.Equal(t, `{"glad":null,"sad":null}`, string(sent.Questions["tone"].Criteria))
}

// TestTypeSafeErrors checks the class, the message and the dual body of each error that
// clients of the native dialect know.
func TestTypeSafeErrors(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	cases := []struct {
		name    string
		key     string
		request object
		class   string
		status  int
		kind    string
	}{
		{"400 unknown model", g.inference, asked("lab/none"), "BadRequestError", 400, "invalid_request"},
		{"400 no state", g.inference, object{"model": "lab/answer", "questions": object{"a": made{"noul"}}}, "BadRequestError", 400, "invalid_request"},
		{"401", "sk-rt-v1-none", asked("lab/answer"), "AuthenticationError", 401, "authentication"},
		{"402", g.inference, asked(modelUnpaid), "APIError", 402, "payment_required"},
		{"403", g.management, asked("lab/answer"), "PermissionDeniedError", 403, "permission_denied"},
		{"413", g.inference, asked("lab/large"), "APIError", 413, "payload_too_large"},
		{"429", g.inference, asked("lab/limited"), "RateLimitError", 429, "rate_limit_exceeded"},
		{"500", g.inference, asked(modelBroken), "InternalServerError", 500, "server"},
		{"502", g.inference, asked("lab/failing"), "InternalServerError", 502, "provider_unavailable"},
		{"503", g.inference, asked("lab/off"), "InternalServerError", 503, "no_capacity"},
		{"524", g.inference, asked("lab/slow"), "InternalServerError", 524, "timeout"},
		{"529", g.inference, asked("lab/overloaded"), "InternalServerError", 529, "provider_overloaded"},
	}
	var calls []call
	for _, c := range cases {
		calls = append(calls, call{Name: c.name, Key: c.key, Call: "systemOne", Request: c.request})
	}
	got := run(t, "typesafe.mjs", g.url, calls)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := got[c.name].Error
			require.NotNil(t, err, "%s", got[c.name].Value)
			assert.Equal(t, c.class, err.Class, err.Message)
			assert.Equal(t, c.status, err.Status)
			assert.Equal(t, c.status, err.Body.Error.Code)
			assert.NotEmpty(t, err.Body.Error.Message)
			assert.Equal(t, err.Body.Error.Message, err.Body.Detail.Message)
			assert.Equal(t, c.kind, err.Body.Detail.ErrorType)
			assert.NotEmpty(t, err.RequestID)
		})
	}
	limited := got["429"].Error
	require.NotNil(t, limited)
	assert.InDelta(t, 7000, limited.RetryAfterMS, 0)
}

// TestTypeSafeRetries: the SDK retries by itself, after the delay that the upstream
// requested and Signalbox passed on.
func TestTypeSafeRetries(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "typesafe.mjs", g.url, []call{{
		Name: "once", Key: g.inference, Call: "systemOne", Request: asked("lab/limited-once"),
		Retry: object{"maxRetries": 1, "backoffInitialMs": 60_000},
	}})["once"]
	require.Nil(t, got.Error, "%+v", got.Error)
	arrived := g.lab.received("limited-once")
	require.Len(t, arrived, 2)
	waited := arrived[1].at.Sub(arrived[0].at)
	assert.InDelta(t, 10, waited.Seconds(), 9.05, "a Retry-After of one second was not honoured")
	assert.Empty(t, arrived[1].header.Get("X-Typesafe-Retry-Count"), "a caller's header went upstream")
}

func TestTypeSafeModels(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	got := run(t, "typesafe.mjs", g.url, []call{
		{Name: "models", Key: g.inference, Call: "models.list"},
		{Name: "wrong key", Key: "sk-rt-v1-none", Call: "models.list"},
	})
	require.Nil(t, got["models"].Error, "%+v", got["models"].Error)
	var models []struct {
		Name        string  `json:"name"`
		Description *string `json:"description"`
		ReleaseDate *string `json:"release_date"`
	}
	require.NoError(t, json.Unmarshal(got["models"].Value, &models))
	require.NotEmpty(t, models)
	for _, m := range models {
		assert.NotEmpty(t, m.Name)
		assert.NotNil(t, m.Description)
		assert.NotNil(t, m.ReleaseDate)
	}
	require.NotNil(t, got["wrong key"].Error)
	assert.Equal(t, "AuthenticationError", got["wrong key"].Error.Class)
}
