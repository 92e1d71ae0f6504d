package content_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/guardrails/content"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// builtin returns a filter for a slug.
func builtin(slug string, action content.Action) content.Filter {
	return content.Filter{Slug: slug, Action: action}
}

// engine is shared by the tests, because making one takes a millisecond.
var engine = sync.OnceValues(func() (*content.Engine, error) { return content.New(content.Config{}) })

func scanner(tb testing.TB, filters ...content.Filter) *content.Scanner {
	tb.Helper()
	e, err := engine()
	require.NoError(tb, err)
	s, err := e.Scanner(filters)
	require.NoError(tb, err)
	return s
}

// scanState scans a request that has only a state.
func scanState(tb testing.TB, s *content.Scanner, state string) content.Verdict {
	tb.Helper()
	v, err := s.Scan(tb.Context(), "", &systemone.Request{State: json.RawMessage(state)})
	require.NoError(tb, err)
	return v
}

// redacted returns a text after a scan that redacts what the builtin finds.
func redacted(tb testing.TB, s *content.Scanner, plain string) string {
	tb.Helper()
	state, err := json.Marshal(plain)
	require.NoError(tb, err)
	var out string
	require.NoError(tb, json.Unmarshal(scanState(tb, s, string(state)).Request.State, &out))
	return out
}

func TestScanRedactsInsideStringsOnly(t *testing.T) {
	s := scanner(t, builtin(content.Email, content.Redact), builtin(content.IPAddress, content.Redact))
	for _, c := range []struct{ name, in, out string }{
		{"text", `"write to a.b@example.com today"`, `"write to [EMAIL] today"`},
		{"spaces and order stay", "{ \"b\" :\t\"x@example.com\" , \"a\":1.50 }", "{ \"b\" :\t\"[EMAIL]\" , \"a\":1.50 }"},
		{"names of members", `{"x@example.com" : {"10.0.0.1": "10.0.0.1"}}`, `{"[EMAIL]" : {"[IP_ADDRESS]": "[IP_ADDRESS]"}}`},
		{"escapes before and after", `"\u00e9\n\"x@example.com\"\ttail\\"`, `"\u00e9\n\"[EMAIL]\"\ttail\\"`},
		{"escapes inside", `"x\u0040example\u002ecom!"`, `"[EMAIL]!"`},
		{"a surrogate pair before", `"\ud83d\ude00x@example.com\ud83d\ude00"`, `"\ud83d\ude00[EMAIL]\ud83d\ude00"`},
		{"zero width inside", "\"x@exam\u200bple.com.\"", `"[EMAIL]."`},
		{"full width", "\"mail ｘ＠ｅｘａｍｐｌｅ．ｃｏｍ now\"", `"mail [EMAIL] now"`},
		{"nested", `[["x@example.com",{"a":["y@example.com"]}],null,true]`, `[["[EMAIL]",{"a":["[EMAIL]"]}],null,true]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := &systemone.Request{State: json.RawMessage(c.in)}
			v, err := s.Scan(t.Context(), "", req)
			require.NoError(t, err)
			assert.Equal(t, c.out, string(v.Request.State))
			assert.Equal(t, c.in, string(req.State), "the request itself never changes")
		})
	}
}

func TestScanReturnsTheRequestWhenNothingIsRedacted(t *testing.T) {
	s := scanner(t, builtin(content.Email, content.Flag), builtin(content.Phone, content.Redact))
	req := &systemone.Request{State: json.RawMessage(`"x@example.com"`)}
	v, err := s.Scan(t.Context(), "", req)
	require.NoError(t, err)
	assert.Same(t, req, v.Request)
	assert.Nil(t, v.Blocked)
	require.Len(t, v.Findings, 1)
	assert.Equal(t, 1, v.Findings[0].Count)
}

func TestScanCoversQuestions(t *testing.T) {
	s := scanner(t, builtin(content.Email, content.Redact))
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	req := &systemone.Request{
		State: raw(`"clean"`),
		Questions: []systemone.Question{
			{Name: "q@example.com", Kind: systemone.Noul, Instructions: raw(`{"x":"a@example.com"}`), True: raw(`"b@example.com"`), False: raw(`"c@example.com"`)},
			{Name: "p", Kind: systemone.Choice, Instructions: raw(`"ok"`), Options: []systemone.Option{{Name: "o@example.com"}, {Name: "r", Guidance: raw(`"d@example.com"`)}}},
			{Name: "s", Kind: systemone.Score, Instructions: raw(`"ok"`), Levels: []json.RawMessage{raw(`"low"`), raw(`"e@example.com"`)}},
			{Name: "t", Kind: systemone.Noul, Instructions: raw(`"ok"`)},
		},
	}
	before, err := json.Marshal(req)
	require.NoError(t, err)
	v, err := s.Scan(t.Context(), "", req)
	require.NoError(t, err)
	after, err := json.Marshal(req)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "the request itself never changes")

	q := v.Request.Questions
	assert.Equal(t, "[EMAIL]", q[0].Name)
	assert.Equal(t, `{"x":"[EMAIL]"}`, string(q[0].Instructions))
	assert.Equal(t, `"[EMAIL]"`, string(q[0].True))
	assert.Equal(t, `"[EMAIL]"`, string(q[0].False))
	assert.Equal(t, "[EMAIL]", q[1].Options[0].Name)
	assert.Equal(t, `"[EMAIL]"`, string(q[1].Options[1].Guidance))
	assert.Equal(t, `"[EMAIL]"`, string(q[2].Levels[1]))
	assert.Equal(t, `"low"`, string(q[2].Levels[0]))
	assert.Equal(t, req.Questions[3], q[3])
	assert.Equal(t, 7, v.Findings[0].Count)
}

func TestR88aBlockWins(t *testing.T) {
	s := scanner(t, builtin(content.Email, content.Redact), builtin(content.Email, content.Block))
	v := scanState(t, s, `"x@example.com"`)
	require.NotNil(t, v.Blocked)
	assert.Equal(t, router.PermissionDenied, v.Blocked.Class)
	assert.Equal(t, "Request blocked by content filter: Email address", v.Blocked.Message)
	assert.Equal(t, `"x@example.com"`, string(v.Request.State))
}

func TestR88bRedactBeatsFlag(t *testing.T) {
	s := scanner(t, builtin(content.Email, content.Flag), builtin(content.Email, content.Redact))
	v := scanState(t, s, `"x@example.com"`)
	assert.Nil(t, v.Blocked)
	assert.Equal(t, `"[EMAIL]"`, string(v.Request.State))
	require.Len(t, v.Findings, 1)
	assert.Equal(t, content.Redact, v.Findings[0].Action)
}

func TestR88cFiltersUnite(t *testing.T) {
	s := scanner(t, builtin(content.Phone, content.Redact), builtin(content.Email, content.Redact))
	v := scanState(t, s, `"x@example.com or 212-555-0123"`)
	assert.Equal(t, `"[EMAIL] or [PHONE]"`, string(v.Request.State))
}

func TestR88dTheMessageOfABlock(t *testing.T) {
	for slug, c := range map[string]struct{ text, title string }{
		content.Email:      {"x@example.com", "Email address"},
		content.Phone:      {"212-555-0123", "Phone number"},
		content.SSN:        {"123-45-6789", "Social Security number"},
		content.CreditCard: {"4111 1111 1111 1111", "Credit card number"},
		content.IPAddress:  {"10.1.2.3", "IP address"},
		content.PersonName: {"Dr. Mary Miller", "Person name"},
		content.Address:    {"12 Main Street", "Address"},
	} {
		t.Run(slug, func(t *testing.T) {
			v := scanState(t, scanner(t, builtin(slug, content.Block)), `"see `+c.text+`"`)
			require.NotNil(t, v.Blocked)
			assert.Equal(t, "Request blocked by content filter: "+c.title, v.Blocked.Message)
			require.Len(t, v.Stages, 1)
			assert.Equal(t, "block", v.Stages[0].Data["action"])
			assert.Equal(t, c.title+": 1 blocked", v.Stages[0].Summary)
		})
	}
	for label, title := range map[string]string{"": "[BLOCKED]", "Project": "Project"} {
		s := scanner(t, content.Filter{Pattern: `Ikarus\d`, Action: content.Block, Label: label})
		v := scanState(t, s, `"on Ikarus7"`)
		require.NotNil(t, v.Blocked)
		assert.Equal(t, "Request blocked by content filter: "+title, v.Blocked.Message)
	}
}

func TestScanOverlapsLeaveNothing(t *testing.T) {
	s := scanner(t,
		content.Filter{Pattern: `abcd`, Action: content.Redact, Label: "<short>"},
		content.Filter{Pattern: `cdefgh`, Action: content.Redact, Label: `<"long">`},
		content.Filter{Pattern: `gh`, Action: content.Flag},
		content.Filter{Pattern: `z+`, Action: content.Redact},
	)
	v := scanState(t, s, `"_abcdefgh_zz"`)
	assert.Equal(t, `"_<\"long\">_[REDACTED]"`, string(v.Request.State))
}

func TestScanStagesNameTheirGuardrail(t *testing.T) {
	id := uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
	f := builtin(content.Email, content.Redact)
	f.Guardrail, f.Scope = id, "key"
	v := scanState(t, scanner(t, f), `["x@example.com","y@example.com"]`)
	require.Len(t, v.Stages, 1)
	stage := v.Stages[0]
	assert.Equal(t, "guardrail", stage.Type)
	assert.Equal(t, "content_filter", stage.Name)
	assert.Equal(t, "Email address: 2 redacted", stage.Summary)
	assert.Equal(t, &id, stage.GuardrailID)
	assert.Equal(t, "key", stage.GuardrailScope)
	assert.Equal(t, map[string]any{
		"action": "redact", "detected": true, "engines": []string{"regex"},
		"filter": "email", "label": "[EMAIL]", "count": 2,
	}, stage.Data)
}

func TestScanHonoursTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	long := make([]byte, 40<<10)
	for i := range long {
		long[i] = 'a'
	}
	state, err := json.Marshal([]string{string(long), "x"})
	require.NoError(t, err)
	_, err = scanner(t, builtin(content.Email, content.Flag)).Scan(ctx, "", &systemone.Request{State: state})
	require.ErrorIs(t, err, context.Canceled)
}

func TestScanRefusesAStringWithoutEnd(t *testing.T) {
	_, err := scanner(t, builtin(content.Email, content.Flag)).
		Scan(t.Context(), "", &systemone.Request{State: json.RawMessage(`{"a":"x\"`)})
	require.ErrorIs(t, err, systemone.ErrInvalid)
}

func TestMistakesInAConfigurationAreRefused(t *testing.T) {
	e, err := engine()
	require.NoError(t, err)
	for _, f := range []content.Filter{{Slug: "shoe-size"}, {Pattern: "(a+)+"}, {}} {
		_, err := e.Scanner([]content.Filter{f})
		require.ErrorIs(t, err, content.ErrConfig)
	}
	_, err = content.New(content.Config{RecognizerTimeout: -1})
	require.ErrorIs(t, err, content.ErrConfig)
}
