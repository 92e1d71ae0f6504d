package presets_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/systemone"
)

// chat is a body for a chat with further members.
func chat(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"messages":[{"role":"user","content":"hi"}]` + members + `}`
}

// paths decodes a body and returns the paths of what is wrong with it.
func paths(t *testing.T, shape presets.Shape, body string) []string {
	t.Helper()
	_, err := presets.Decode(shape, []byte(body))
	if err == nil {
		return nil
	}
	var invalid *systemone.InvalidError
	require.ErrorAs(t, err, &invalid)
	var list []string
	for _, is := range invalid.Issues {
		assert.NotEmpty(t, is.Message)
		list = append(list, is.Path)
	}
	return list
}

// bounds has, for every member, values that are taken and values that are not.
// A path is the member's name unless the value says another after a #.
var bounds = []struct {
	name string
	kept bool
	good []string
	bad  []string
}{
	{"model", true, []string{`"a/b"`, `""`}, []string{`3`, `[]`, `{}`, `true`}},
	{"models", true, []string{
		`[]`, `["a","b"]`, `["a",{"model":"b","when":{"question":"desk","confidenceBelow":0.6},"scope":"all","required":true},{"model":"c","shop_refusals":true}]`,
	}, []string{
		`"a"`, `{}`, `[1]#models.0`, `["a",null]#models.1`, `[{"when":{"confidenceBelow":0.5}}]#models.0.model`, `[{"model":"b","own":1}]#models.0.own`,
		`["a",{"model":"b","when":{"any":[{"confidenceBelow":0.5},{}]}}]#models.1.when.any.1`, `[{"model":"b","scope":"all"}]#models.0.scope`,
	}},
	{"temperature", true, []string{`0`, `2`, `2.0`, `0.70`, `1e-3`, `-0`}, []string{`-0.0001`, `2.00000000000000000001`, `3`, `"1"`, `true`, `1e999999999`, `1e-999999999`, `[1]`}},
	{"top_p", true, []string{`0`, `1`, `0.5`}, []string{`-0.1`, `1.1`, `"0.5"`}},
	{"top_k", true, []string{`1`, `0`, `-1`, `40.0`, `4e1`}, []string{`1.5`, `"1"`, `1e-1`}},
	{"min_p", true, []string{`0`, `1.5`, `-1`}, []string{`"0"`, `false`}},
	{"top_a", true, []string{`0`, `1.5`}, []string{`"0"`, `[]`}},
	{"repetition_penalty", true, []string{`1.0`, `9`}, []string{`"1"`, `{}`}},
	{"frequency_penalty", true, []string{`-2.0`, `2`}, []string{`-2.01`, `2.01`, `"x"`}},
	{"presence_penalty", true, []string{`-2`, `2.00`}, []string{`-2.01`, `2.01`, `"x"`}},
	{"logit_bias", true, []string{`{}`, `{"50256":-100,"1":1.5}`}, []string{`[]`, `{"1":"x"}#logit_bias.1`, `{"1":null}#logit_bias.1`}},
	{"logprobs", true, []string{`true`, `false`}, []string{`1`, `"true"`}},
	{"top_logprobs", true, []string{`0`, `20`}, []string{`-1`, `21`, `1.5`, `"1"`}},
	{"max_completion_tokens", true, []string{`1`, `100000`}, []string{`1.5`, `"1"`}},
	{"max_tokens", true, []string{`16`}, []string{`1.5`, `"1"`}},
	{"seed", true, []string{`0`, `-5`, `12345678901234567890`}, []string{`0.5`, `"0"`}},
	{"stop", true, []string{`"x"`, `[]`, `["a","b","c","d"]`}, []string{`["a","b","c","d","e"]`, `3`, `{}`, `[1]#stop.0`}},
	{"modalities", true, []string{`["text","image","audio"]`}, []string{`"text"`, `["video"]#modalities.0`, `[1]#modalities.0`}},
	{"parallel_tool_calls", true, []string{`true`}, []string{`"yes"`}},
	{"tools", true, []string{`[]`, `[{"type":"function","function":{"name":"f"}}]`}, []string{`{}`, `["x"]#tools.0`}},
	{"tool_choice", true, []string{`"none"`, `"auto"`, `"required"`, `{"type":"function","function":{"name":"f"}}`}, []string{`"any"`, `3`, `[]`}},
	{
		"stop_server_tools_when", true,
		[]string{`[{"type":"step_count_is","step_count":5},{"type":"max_cost","max_cost_in_dollars":0.5},{"type":"has_tool_call","tool_name":"x"}]`},
		[]string{
			`[]`, `{}`, `[1]#stop_server_tools_when.0`, `[{}]#stop_server_tools_when.0.type`,
			`[{"type":"step_count_is"}]#stop_server_tools_when.0.step_count`,
			`[{"type":"step_count_is","step_count":1.5}]#stop_server_tools_when.0.step_count`,
			`[{"type":"max_cost","max_cost_in_dollars":"1"}]#stop_server_tools_when.0.max_cost_in_dollars`,
		},
	},
	{"plugins", true, []string{`[]`, `[{"id":"web"}]`}, []string{`{}`, `["web"]#plugins.0`}},
	{"prediction", true, []string{`{"type":"content","content":"x"}`, `{"type":"content","content":[{"type":"text","text":"x"}]}`}, []string{
		`"x"`, `{"content":"x"}#prediction.type`, `{"type":"other","content":"x"}#prediction.type`, `{"type":"content"}#prediction.content`, `{"type":"content","content":3}#prediction.content`,
	}},
	{"response_format", true, []string{`{"type":"json_object"}`}, []string{`"json"`, `{}#response_format.type`, `{"type":1}#response_format.type`}},
	{"reasoning", true, []string{`{}`, `{"effort":"max","summary":"auto"}`, `{"effort":null}`, `{"max_tokens":5}`}, []string{`"high"`, `{"effort":"huge"}#reasoning.effort`, `{"summary":1}#reasoning.summary`}},
	{"reasoning_effort", true, []string{`"max"`, `"xhigh"`, `"high"`, `"medium"`, `"low"`, `"minimal"`, `"none"`}, []string{`"huge"`, `1`}},
	{"service_tier", true, []string{`"auto"`, `"default"`, `"fast"`, `"flex"`, `"priority"`, `"scale"`, `"ultrafast"`}, []string{`"slow"`, `1`}},
	{"provider", true, []string{`{}`, `{"sort":"price","order":["ant"],"zdr":null}`, `{"max_price":{"prompt":"0.10"}}`}, []string{
		`[]`, `"ant"`, `{"orderr":[]}#provider.orderr`, `{"sort":"cheap"}#provider.sort`, `{"only":[]}#provider.only`, `{"max_price":{"prompt":-1}}#provider.max_price.prompt`,
	}},
	{"cache_control", true, []string{`{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"5m"}`}, []string{`{}#cache_control.type`, `{"type":"x"}#cache_control.type`, `"ephemeral"`}},
	{"prompt_cache_options", true, []string{`{}`, `{"mode":"explicit","ttl":"30m"}`}, []string{`[]`, `{"mode":"implicit"}#prompt_cache_options.mode`, `{"ttl":5}#prompt_cache_options.ttl`}},
	{"image_config", true, []string{`{}`, `{"aspect_ratio":"1:1"}`}, []string{`"x"`, `[]`}},
	{"metadata", true, []string{
		`{}`, `{"a":"b"}`, pairs(16), `{"` + strings.Repeat("é", 64) + `":"` + strings.Repeat("é", 512) + `"}`,
	}, []string{
		`[]`, `"x"`, pairs(17), `{"a":1}#metadata.a`, `{"a":"` + strings.Repeat("é", 513) + `"}#metadata.a`,
		`{"` + strings.Repeat("k", 65) + `":"v"}#metadata.` + strings.Repeat("k", 64) + "…",
	}},
	{"stream", false, []string{`true`}, []string{`"true"`, `1`}},
	{"stream_options", false, []string{`{}`, `{"include_usage":true}`}, []string{`true`, `{"include_usage":1}#stream_options.include_usage`}},
	{"debug", false, []string{`{}`, `{"echo_upstream_body":true}`}, []string{`true`, `{"echo_upstream_body":"x"}#debug.echo_upstream_body`}},
	{"session_id", false, []string{`""`, `"` + strings.Repeat("é", 256) + `"`}, []string{`"` + strings.Repeat("é", 257) + `"`, `1`}},
	{"trace", false, []string{`{}`, `{"trace_id":"x","own":1}`}, []string{
		`"x"`, `{"trace_id":1}#trace.trace_id`, `{"trace_name":1}#trace.trace_name`, `{"span_name":[]}#trace.span_name`,
		`{"generation_name":1}#trace.generation_name`, `{"parent_span_id":1}#trace.parent_span_id`,
	}},
	{"user", false, []string{`"u"`, `"` + strings.Repeat("u", 300) + `"`}, []string{`1`}},
	{"prompt_cache_key", false, []string{`"k"`}, []string{`1`}},
	{"prompt", false, []string{`"k"`, `1`, `[null]`}, nil},
	{"never_heard_of", false, []string{`1`}, nil},
}

func pairs(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return "{" + strings.Join(list, ",") + "}"
}

func TestBounds(t *testing.T) {
	for _, b := range bounds {
		for _, value := range b.good {
			got, err := presets.Decode(presets.ChatCompletions, []byte(chat(`"`+b.name+`": `+value)))
			require.NoError(t, err, "%s %s", b.name, value)
			want := "{}"
			if b.kept {
				want = `{"` + b.name + `":` + value + `}`
			}
			assert.Equal(t, want, string(got.Config), "as it was sent")
		}
		for _, value := range b.bad {
			value, path, other := strings.Cut(value, "#")
			if !other {
				path = b.name
			}
			assert.Equal(t, []string{path}, paths(t, presets.ChatCompletions, chat(`"`+b.name+`":`+value)), value)
		}
		got, err := presets.Decode(presets.ChatCompletions, []byte(chat(`"`+b.name+`":null`)))
		require.NoError(t, err, b.name)
		assert.Equal(t, "{}", string(got.Config), "null is absent")
	}
}

func TestBoundsHoldInEveryShape(t *testing.T) {
	for _, b := range bounds {
		for _, value := range b.bad {
			value, path, other := strings.Cut(value, "#")
			if !other {
				path = b.name
			}
			assert.Equal(t, []string{path}, paths(t, presets.Messages, chat(`"`+b.name+`":`+value)), value)
			assert.Equal(t, []string{path}, paths(t, presets.Responses, `{"`+b.name+`":`+value+`}`), value)
		}
	}
}

func TestEveryViolationIsListed(t *testing.T) {
	got := paths(t, presets.ChatCompletions, `{"temperature":3,"stop":[1,2],"session_id":7,"messages":[{"role":"owner"}]}`)
	assert.ElementsMatch(t, []string{"temperature", "stop.0", "stop.1", "session_id", "messages.0.role"}, got)
	many := paths(t, presets.ChatCompletions, chat(`"models":[`+strings.Repeat("1,", 500)+`1]`))
	assert.Len(t, many, 100)
}

func TestConversation(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape presets.Shape
		body  string
		want  []string
	}{
		{"no messages", presets.ChatCompletions, `{}`, []string{"messages"}},
		{"null messages", presets.ChatCompletions, `{"messages":null}`, []string{"messages"}},
		{"empty messages", presets.ChatCompletions, `{"messages":[]}`, []string{"messages"}},
		{"messages that are none", presets.ChatCompletions, `{"messages":"hi"}`, []string{"messages"}},
		{"a message that is none", presets.ChatCompletions, `{"messages":["hi"]}`, []string{"messages.0"}},
		{"no role", presets.ChatCompletions, `{"messages":[{"content":"x"}]}`, []string{"messages.0.role"}},
		{"an unknown role", presets.ChatCompletions, `{"messages":[{"role":"owner","content":"x"}]}`, []string{"messages.0.role"}},
		{"every role", presets.ChatCompletions, `{"messages":[{"role":"system","content":"x"},{"role":"developer","content":"x"},{"role":"user","content":"x"},{"role":"assistant","content":null},{"role":"tool","content":"x"}]}`, nil},
		{"a name that is none", presets.ChatCompletions, `{"messages":[{"role":"user","content":"x","name":1}]}`, []string{"messages.0.name"}},
		{"a system that says nothing", presets.ChatCompletions, `{"messages":[{"role":"system"}]}`, []string{"messages.0.content"}},
		{"a system of another type", presets.ChatCompletions, `{"messages":[{"role":"system","content":{}}]}`, []string{"messages.0.content"}},
		{"a part without text", presets.ChatCompletions, `{"messages":[{"role":"system","content":[{"type":"text"}]}]}`, []string{"messages.0.content.0.text"}},
		{"a part that is none", presets.ChatCompletions, `{"messages":[{"role":"system","content":["x"]}]}`, []string{"messages.0.content.0"}},
		{"messages need messages", presets.Messages, `{"system":"x"}`, []string{"messages"}},
		{"messages have no tool role", presets.Messages, `{"messages":[{"role":"tool","content":"x"}]}`, []string{"messages.0.role"}},
		{"system of another type", presets.Messages, chat(`"system":3`), []string{"system"}},
		{"responses need nothing", presets.Responses, `{}`, nil},
		{"input text", presets.Responses, `{"input":"hi"}`, nil},
		{"input items", presets.Responses, `{"input":[{"role":"user","content":"hi"}]}`, nil},
		{"input of another type", presets.Responses, `{"input":3}`, []string{"input"}},
		{"instructions of another type", presets.Responses, `{"instructions":["x"]}`, []string{"instructions"}},
		{"not an object", presets.Responses, `[]`, []string{""}},
		{"null", presets.Responses, `null`, []string{""}},
		{"nothing", presets.Responses, ``, []string{""}},
		{"not JSON", presets.Responses, `{"a":}`, []string{""}},
		{"trailing data", presets.Responses, `{} {}`, []string{""}},
		{"a member twice", presets.Responses, `{"model":"a","model":"b"}`, []string{"model"}},
		{"nested too deep", presets.Responses, `{"x":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, paths(t, c.shape, c.body)) })
	}
}

func TestSystemPrompt(t *testing.T) {
	for _, c := range []struct {
		shape presets.Shape
		body  string
		want  string
	}{
		{presets.ChatCompletions, chat(""), ""},
		{presets.ChatCompletions, `{"messages":[{"role":"system","content":"One."},{"role":"user","content":"no"},{"role":"developer","content":"Two."}]}`, "One.\n\nTwo."},
		{presets.ChatCompletions, `{"messages":[{"role":"system","content":[{"type":"text","text":"One."},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"Two."}]}]}`, "One.\n\nTwo."},
		{presets.ChatCompletions, `{"messages":[{"role":"syst\u0065m","content":[{"type":"te\u0078t","text":"\u004fne."}]}]}`, "One."},
		{presets.ChatCompletions, `{"messages":[{"role":"system","content":""},{"role":"system","content":[]}]}`, ""},
		{presets.ChatCompletions, chat(`"system":"no","instructions":"no"`), ""},
		{presets.Messages, chat(`"system":"One.","instructions":"no"`), "One."},
		{presets.Messages, chat(`"system":[{"type":"text","text":"One.","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Two."}]`), "One.\n\nTwo."},
		{presets.Messages, chat(`"system":null`), ""},
		{presets.Messages, `{"messages":[{"role":"system","content":"no"}]}`, ""},
		{presets.Responses, `{"instructions":"One.","system":"no"}`, "One."},
		{presets.Responses, `{"instructions":null,"input":[{"role":"system","content":"no"}]}`, ""},
	} {
		got, err := presets.Decode(c.shape, []byte(c.body))
		require.NoError(t, err, c.body)
		assert.Equal(t, c.want, got.SystemPrompt, c.body)
	}
}

func TestEffortIsSaidOnce(t *testing.T) {
	assert.Equal(t, []string{"reasoning_effort"}, paths(t, presets.ChatCompletions, chat(`"reasoning_effort":"low","reasoning":{"effort":"high"}`)))
	for _, members := range []string{
		`"reasoning_effort":"low","reasoning":{"effort":"low"}`, `"reasoning_effort":"low","reasoning":{"effort":null}`,
		`"reasoning_effort":null,"reasoning":{"effort":"low"}`, `"reasoning_effort":"low","reasoning":{}`, `"reasoning_effort":"low","reasoning":null`,
	} {
		assert.Empty(t, paths(t, presets.ChatCompletions, chat(members)), members)
	}
}

// TestRoute has rows d to f of R90 among its cases.
func TestRoute(t *testing.T) {
	for _, c := range []struct{ name, members, provider string }{
		{"R90d", `"route":"sort","provider":{"sort":"price"}`, `{"sort":{"by":"price","partition":"none"}}`},
		{"R90e", `"route":"sort","provider":{"sort":{"partition":"model"}}`, `{"sort":{"partition":"model"}}`},
		{"R90f", `"route":"fallback"`, `{"sort":{"partition":"model"}}`},
		{"null provider", `"route":"sort","provider":null`, `{"sort":{"partition":"none"}}`},
		{"null sort", `"route":"sort","provider":{"sort":null,"zdr":true}`, `{"sort":{"partition":"none"},"zdr":true}`},
		{"null partition", `"route":"sort","provider":{"sort":{"by":"latency","partition":null}}`, `{"sort":{"by":"latency","partition":"none"}}`},
		{"escaped", `"route":"s\u006frt"`, `{"sort":{"partition":"none"}}`},
		{"null route", `"route":null,"provider":{"sort":"price"}`, `{"sort":"price"}`},
		{"the rest as it was sent", `"route":"sort","provider":{"max_price":{"prompt":1.50}}`, `{"max_price":{"prompt":1.50},"sort":{"partition":"none"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := presets.Decode(presets.ChatCompletions, []byte(chat(c.members)))
			require.NoError(t, err)
			assert.Equal(t, `{"provider":`+c.provider+`}`, string(got.Config))
			_, err = systemone.DecodePreferences([]byte(c.provider))
			require.NoError(t, err)
		})
	}
	for _, value := range []string{`"other"`, `1`} {
		assert.Equal(t, []string{"route"}, paths(t, presets.ChatCompletions, chat(`"route":`+value)))
	}
}

func TestDraftSharesNoMemoryWithTheBody(t *testing.T) {
	body := []byte(chat(`"model":"acme/judge"`))
	got, err := presets.Decode(presets.ChatCompletions, body)
	require.NoError(t, err)
	clear(body)
	assert.Equal(t, `{"model":"acme/judge"}`, string(got.Config))
}

func TestNothingThatIsKeptHasNUL(t *testing.T) {
	for member, path := range map[string]string{
		`"model":"a\u0000"`:       "model",
		`"models":["a","\u0000"]`: "models.1",
		`"models":[{"model":"a","when":{"question":"\u0000","confidenceBelow":0}}]`: "models.0.when.question",
		`"stop":"\u0000"`:                       "stop",
		`"metadata":{"a\u0000":"b"}`:            `metadata."a\x00"`,
		`"tools":[{"function":{"x":"\u0000"}}]`: "tools.0.function.x",
		`"provider":{"only":["\u0000"]}`:        "provider.only.0",
	} {
		assert.Contains(t, paths(t, presets.ChatCompletions, chat(member)), path, member)
	}
	for body, path := range map[string]string{
		`{"messages":[{"role":"system","content":"\u0000"}]}`:                                   "messages.0.content",
		`{"messages":[{"role":"developer","content":[{"type":"text","text":"a\u0000"}]}]}`:      "messages.0.content.0.text",
		`{"messages":[{"role":"user","content":"x"},{"role":"system","content":"a\u0000\\u"}]}`: "messages.1.content",
	} {
		assert.Equal(t, []string{path}, paths(t, presets.ChatCompletions, body), body)
	}
	assert.Equal(t, []string{"instructions"}, paths(t, presets.Responses, `{"instructions":"\u0000"}`))
	assert.Empty(t, paths(t, presets.ChatCompletions, chat(`"user":"\u0000","odd\u0000":"\u0000","model":"\\u0000"`)), "what is dropped, and what only looks like it")
}
