package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/openai"
	"github.com/signalbox/signalbox/systemone"
)

// asking returns a body with these questions.
func asking(questions string) string {
	return `{"model":"acme/judge","input":"x","questions":` + questions + `}`
}

// about returns a body with this input.
func about(input string) string {
	return `{"model":"acme/judge","input":` + input + `,"questions":[{"type":"predicate","instructions":"Is it?"}]}`
}

// TestDecode compares each body with the System One body of the same meaning.
func TestDecode(t *testing.T) {
	const isIt = `"questions":{"0":{"type":"noul","instructions":"Is it?"}}`
	asked := func(questions string) string {
		return `{"model":"acme/judge","state":"x","questions":{` + questions + `}}`
	}
	state := func(state string) string { return `{"model":"acme/judge","state":` + state + `,` + isIt + `}` }
	for name, c := range map[string]struct{ body, want string }{
		"a text":                     {about(`"x"`), state(`"x"`)},
		"an empty text":              {about(`""`), state(`""`)},
		"a user message":             {about(`[{"role":"user","content":"x"}]`), state(`"x"`)},
		"with its type":              {about(`[{"type":"message","role":"user","content":"x"}]`), state(`"x"`)},
		"one part of text":           {about(`[{"role":"user","content":[{"type":"input_text","text":"x"}]}]`), state(`"x"`)},
		"one part of data":           {about(`[{"role":"user","content":[{"type":"input_json","data":{"a":[1,2]}}]}]`), state(`{"a":[1,2]}`)},
		"data that is an array":      {about(`[{"role":"user","content":[{"type":"input_json","data":[{"a":1}]}]}]`), state(`[{"a":1}]`)},
		"several parts":              {about(`[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_json","data":{}}]}]`), state(`[{"type":"text","text":"x"},{"type":"json","value":{}}]`)},
		"parts with breakpoints":     {about(`[{"role":"user","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"y","prompt_cache_breakpoint":null}]}]`), state(`[{"type":"text","text":"x"},{"type":"text","text":"y"}]`)},
		"one developer message":      {about(`[{"role":"developer","content":"x"}]`), state(`[{"role":"developer","content":"x"}]`)},
		"a conversation":             {about(`[{"role":"user","content":"x"},{"role":"assistant","phase":null,"content":[{"type":"output_text","text":"y"},{"type":"refusal","refusal":"z"}]}]`), state(`[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"output_text","text":"y"},{"type":"refusal","refusal":"z"}]}]`)},
		"a conversation with breaks": {about(`[{"role":"system","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"y"}]`), state(`[{"role":"system","content":[{"type":"input_text","text":"x"}]},{"role":"user","content":"y"}]`)},
		"an escaped name":            {about(`[{"role":"user","content":[{"type":"input_text","te\u0078t":"x"}]}]`), state(`"x"`)},
		"tool calls": {
			about(`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}","id":null,"namespace":"n"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]},{"type":"custom_tool_call","call_id":"2","name":"g","input":"p"},{"type":"custom_tool_call_output","call_id":"2","output":"done"}]`),
			state(`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}","namespace":"n"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"x"}]},{"type":"custom_tool_call","call_id":"2","name":"g","input":"p"},{"type":"custom_tool_call_output","call_id":"2","output":"done"}]`),
		},

		"a name":                   {asking(`[{"type":"predicate","name":"refund","instructions":"a"}]`), asked(`"refund":{"type":"noul","instructions":"a"}`)},
		"a null and an empty name": {asking(`[{"type":"predicate","name":null,"instructions":"a"},{"type":"predicate","name":"","instructions":"b"}]`), asked(`"0":{"type":"noul","instructions":"a"},"1":{"type":"noul","instructions":"b"}`)},
		"a name twice":             {asking(`[{"type":"predicate","name":"a","instructions":"a"},{"type":"predicate","name":"\u0061","instructions":"b"}]`), asked(`"a":{"type":"noul","instructions":"a"},"1":{"type":"noul","instructions":"b"}`)},
		"a name that is an index":  {asking(`[{"type":"predicate","instructions":"a"},{"type":"predicate","name":"0","instructions":"b"},{"type":"predicate","name":"0_","instructions":"c"}]`), asked(`"0__":{"type":"noul","instructions":"a"},"0":{"type":"noul","instructions":"b"},"0_":{"type":"noul","instructions":"c"}`)},
		"instructions of texts":    {asking(`[{"type":"predicate","instructions":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}]`), asked(`"0":{"type":"noul","instructions":"a\n\nb"}`)},
		"instructions of data":     {asking(`[{"type":"predicate","instructions":[{"type":"input_json","data":{"a":1}}]}]`), asked(`"0":{"type":"noul","instructions":{"a":1}}`)},
		"instructions of both":     {asking(`[{"type":"predicate","instructions":[{"type":"input_json","data":{"a":1}},{"type":"input_text","text":"b"}]}]`), asked(`"0":{"type":"noul","instructions":[{"a":1},"b"]}`)},
		"choices":                  {asking(`[{"type":"choice","instructions":"a","choices":[{"value":"x","description":"d"},{"value":"y"},{"value":"z","description":null}]}]`), asked(`"0":{"type":"choice","instructions":"a","criteria":{"x":"d","y":null,"z":null}}`)},
		"booleans":                 {asking(`[{"type":"choice","instructions":"a","choices":[{"value":true},{"value":false}]}]`), asked(`"0":{"type":"choice","instructions":"a","criteria":{"true":null,"false":null}}`)},
		"typed values":             {asking(`[{"type":"choice","instructions":"a","choices":[{"value":true},{"value":"true"},{"value":"true (boolean)"},{"value":false}]}]`), asked(`"0":{"type":"choice","instructions":"a","criteria":{"true (boolean)_":null,"true":null,"true (boolean)":null,"false":null}}`)},
		"levels":                   {asking(`[{"type":"score","instructions":"a","levels":[{"label":"calm"},{"label":"mad","description":"shouts"},{"label":"x","description":""}]}]`), asked(`"0":{"type":"score","instructions":"a","criteria":["calm","mad: shouts","x"]}`)},
		"levels by index":          {asking(`[{"type":"score","instructions":"a","levels":[{"label":"0","description":"calm"},{"label":"1"}]}]`), asked(`"0":{"type":"score","instructions":"a","criteria":["calm","1"]}`)},

		"members of System One": {
			`{"model":"a/b","models":["c/d"],"provider":{"zdr":true},"session_id":"s","trace":{"trace_id":"t"},"user":"u","preset":"p","zzz":[1],"state":3,` + about(`"x"`)[len(`{"model":"acme/judge",`):],
			`{"model":"a/b","models":["c/d"],"provider":{"zdr":true},"session_id":"s","trace":{"trace_id":"t"},"user":"u","preset":"p","state":"x",` + isIt + `}`,
		},
		"safety identifier":      {`{"safety_identifier":"u",` + about(`"x"`)[1:], `{"user":"u",` + state(`"x"`)[1:]},
		"the same user twice":    {`{"safety_identifier":"u","user":"\u0075",` + about(`"x"`)[1:], `{"user":"u",` + state(`"x"`)[1:]},
		"no safety identifier":   {`{"safety_identifier":null,"user":"u",` + about(`"x"`)[1:], `{"user":"u",` + state(`"x"`)[1:]},
		"cache settings":         {`{"prompt_cache_key":"k","prompt_cache_options":{"mode":"explicit","ttl":"30m"},` + about(`"x"`)[1:], state(`"x"`)},
		"cache settings of null": {`{"prompt_cache_key":null,"prompt_cache_options":null,` + about(`"x"`)[1:], state(`"x"`)},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := systemone.Decoder{}.Decode([]byte(c.want))
			require.NoError(t, err)
			want.Refusals = true
			got, _, err := openai.Decode(systemone.Decoder{}, []byte(c.body))
			require.NoError(t, err)
			assert.JSONEq(t, string(want.AppendJSON(nil)), string(got.AppendJSON(nil)))
			assert.Equal(t, want, got)
		})
	}
}

// TestDecodeRefuses checks the paths of problems, each with a part of its message.
func TestDecodeRefuses(t *testing.T) {
	image := `{"type":"input_image","image_url":"data:image/png;base64,AA==","detail":null}`
	many := func(n int, one string) string { return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]" }
	labels := many(256, `{"label":"x"}`)
	for name, c := range map[string]struct {
		body string
		want map[string]string
	}{
		"no JSON":               {`hello`, map[string]string{"": "invalid JSON at byte 0"}},
		"no object":             {`[]`, map[string]string{"": "must be an object"}},
		"a member twice":        {`{"input":"x","input":"y"}`, map[string]string{"input": "more than once"}},
		"nothing":               {`{}`, map[string]string{"input": "must be given", "questions": "must be an array", "model": "must be given"}},
		"null":                  {`{"model":"m","input":null,"questions":null}`, map[string]string{"input": "must be given", "questions": "must be an array"}},
		"a number as input":     {about(`3`), map[string]string{"input": "must be a string or an array"}},
		"an empty list":         {about(`[]`), map[string]string{"input": "must be a string or an array"}},
		"a state":               {about(`{"a":1}`), map[string]string{"input": "must be a string or an array"}},
		"an image":              {about(`[{"role":"user","content":[{"type":"input_text","text":"x"},` + image + `]}]`), map[string]string{"input.0.content.1": "images are not supported"}},
		"an image of a tool":    {about(`[{"type":"function_call_output","call_id":"1","output":[` + image + `]}]`), map[string]string{"input.0.output.0": "images are not supported"}},
		"an image of a rubric":  {asking(`[{"type":"predicate","instructions":[` + image + `]}]`), map[string]string{"questions.0.instructions.0": "images are not supported"}},
		"odd items":             {about(`["x",{"type":"file"},{},{"role":"tool","content":"x"},{"role":"user"},{"role":"user","content":[]}]`), map[string]string{"input.0": "must be an object", "input.1": "must be a message", "input.2": "must be a message", "input.3.role": "must be", "input.4.content": "must be a string or", "input.5.content": "must be a string or"}},
		"odd parts":             {about(`[{"role":"user","content":["x",{"type":"video"},{"type":"input_text"},{"type":"input_json","data":3},{"type":"refusal"}]}]`), map[string]string{"input.0.content.0": "must be an object", "input.0.content.1.type": "must be", "input.0.content.2.text": "must be a string", "input.0.content.3.data": "must be an object", "input.0.content.4.refusal": "must be a string"}},
		"odd tool calls":        {about(`[{"type":"function_call","call_id":1,"arguments":"{}"},{"type":"custom_tool_call_output","output":{}}]`), map[string]string{"input.0.call_id": "must be a string", "input.0.name": "must be a string", "input.1.call_id": "must be a string", "input.1.output": "must be a string"}},
		"questions as a map":    {asking(`{"a":{"type":"predicate","instructions":"x"}}`), map[string]string{"questions": "must be an array"}},
		"no questions":          {asking(`[]`), map[string]string{"questions": "at least one question"}},
		"odd questions":         {asking(`[3,{"type":"noul","instructions":"x"},{"type":"predicate"},{"type":"predicate","instructions":4},{"type":"predicate","instructions":[]},{"instructions":"x"}]`), map[string]string{"questions.0": "must be an object", "questions.1.type": `must be "predicate"`, "questions.2.instructions": "must be given", "questions.3.instructions": "must be a string", "questions.4.instructions": "must be a string", "questions.5.type": "must be"}},
		"odd names":             {asking(`[{"type":"predicate","instructions":"x","name":3},{"type":"predicate","instructions":"x","name":"` + strings.Repeat("é", 257) + `"}]`), map[string]string{"questions.0.name": "must be a string", "questions.1.name": "longer than 256"}},
		"odd choices":           {asking(`[{"type":"choice","instructions":"x"},{"type":"choice","instructions":"x","choices":[]},{"type":"choice","instructions":"x","choices":[{"value":1},{"value":"a"},{"value":"\u0061"},{"value":true},{"value":true},3,{"value":"d","description":4}]}]`), map[string]string{"questions.0.choices": "at least one", "questions.1.choices": "at least one", "questions.2.choices.0.value": "must be a string or a boolean", "questions.2.choices.2.value": "more than once", "questions.2.choices.4.value": "more than once", "questions.2.choices.5.value": "must be", "questions.2.choices.6.description": "must be a string"}},
		"odd levels":            {asking(`[{"type":"score","instructions":"x"},{"type":"score","instructions":"x","levels":[]},{"type":"score","instructions":"x","levels":["calm",{"description":"x"},{"label":"a","description":{}}]}]`), map[string]string{"questions.0.levels": "at least one", "questions.1.levels": "at least one", "questions.2.levels.0.label": "must be a string", "questions.2.levels.1.label": "must be a string", "questions.2.levels.2.description": "must be a string"}},
		"too many levels":       {asking(`[{"type":"score","name":"a.b","instructions":"x","levels":` + labels + `}]`), map[string]string{"questions.0.levels": "must not have more than 255 levels"}},
		"too many questions":    {asking(many(1001, `{"type":"predicate","instructions":"x"}`)), map[string]string{"questions": "must not have more than 1000 questions"}},
		"a bad preference":      {`{"provider":{"orderr":[]},` + asking(`[{"type":"odd"}]`)[1:], map[string]string{"provider.orderr": "is not a known member", "questions.0.type": "must be", "questions.0.instructions": "must be given"}},
		"two users":             {`{"safety_identifier":"u","user":"v",` + about(`"x"`)[1:], map[string]string{"user": "must be the safety_identifier"}},
		"an odd identifier":     {`{"safety_identifier":3,` + about(`"x"`)[1:], map[string]string{"safety_identifier": "must be a string"}},
		"a null user":           {`{"user":null,` + about(`"x"`)[1:], map[string]string{"user": "must be a string"}},
		"a condition on nobody": {`{"models":[{"model":"a/b","when":{"question":"zzz","confidenceBelow":0.5}}],` + about(`"x"`)[1:], map[string]string{"models.0.when.question": ""}},
		"a long identifier":     {`{"safety_identifier":"` + strings.Repeat("u", 257) + `",` + about(`"x"`)[1:], map[string]string{"user": "longer than 256"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := openai.Decode(systemone.Decoder{}, []byte(c.body))
			ie, ok := errors.AsType[*systemone.InvalidError](err)
			require.True(t, ok, "%v", err)
			got := map[string]string{}
			for _, is := range ie.Issues {
				got[is.Path] = is.Message
			}
			assert.Len(t, got, len(c.want), "%v", got)
			for path, message := range c.want {
				assert.Contains(t, got, path)
				assert.Contains(t, got[path], message, path)
			}
		})
	}
}

// TestConditionsNameQuestions: an entry of models may name a question by its name, and
// one without a name by its index.
func TestConditionsNameQuestions(t *testing.T) {
	for _, name := range []string{"desk", "1"} {
		body := `{"model":"a/b","models":[{"model":"c/d","when":{"question":"` + name + `","confidenceBelow":0.5}}],"input":"x","questions":[` +
			`{"type":"choice","name":"desk","instructions":"a","choices":[{"value":"x"}]},{"type":"choice","instructions":"a","choices":[{"value":"x"}]}]}`
		req, _, err := openai.Decode(systemone.Decoder{}, []byte(body))
		require.NoError(t, err)
		assert.Equal(t, name, req.Models[0].When.Question)
	}
}

// TestNativeTakesNoInstructions: @ai-sdk/openai sends neither null nor text for a
// question without instructions.
func TestNativeTakesNoInstructions(t *testing.T) {
	body := []byte(asking(`[{"type":"choice","choices":[{"value":"x"}]},{"type":"score","instructions":null,"levels":[{"label":"x"}]}]`))
	_, _, err := openai.Decode(systemone.Decoder{}, body)
	require.ErrorIs(t, err, systemone.ErrInvalid)
	req, _, err := openai.Decode(systemone.Decoder{Dialect: systemone.Native}, body)
	require.NoError(t, err)
	assert.Nil(t, req.Questions[0].Instructions)
	assert.Nil(t, req.Questions[1].Instructions)
}

// TestManyProblemsStayCheap: the rewriting ends with the last problem that is listed.
func TestManyProblemsStayCheap(t *testing.T) {
	for _, body := range []string{
		asking("[" + strings.TrimSuffix(strings.Repeat("{},", 100_000), ",") + "]"),
		about("[" + strings.TrimSuffix(strings.Repeat("{},", 100_000), ",") + "]"),
		asking(`[{"type":"choice","instructions":"x","choices":[` + strings.TrimSuffix(strings.Repeat("{},", 100_000), ",") + `]}]`),
	} {
		_, _, err := openai.Decode(systemone.Decoder{}, []byte(body))
		ie, ok := errors.AsType[*systemone.InvalidError](err)
		require.True(t, ok)
		assert.LessOrEqual(t, len(ie.Issues), 102)
		assert.Less(t, len(ie.Error()), 16<<10)
	}
}

// FuzzDecode holds that a body is refused, or has a System One form of the same
// questions, whose reply is JSON with one answer for each.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		about(`"x"`), about(`[{"role":"user","content":[{"type":"input_json","data":{"a":1}}]},{"type":"function_call_output","call_id":"1","output":"x"}]`),
		asking(`[{"type":"choice","name":"a","instructions":[{"type":"input_text","text":"a"}],"choices":[{"value":true},{"value":"true","description":"d"}]},{"type":"score","name":"a","instructions":"b","levels":[{"label":"l"},{"label":"1","description":"d"}]}]`),
		`{"safety_identifier":"u","prompt_cache_key":null,` + asking(`[{}]`)[1:], `{`, `[]`, `null`,
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, native bool) {
		d := systemone.Decoder{}
		if native {
			d.Dialect = systemone.Native
		}
		req, asked, err := openai.Decode(d, body)
		if err != nil {
			require.ErrorIs(t, err, systemone.ErrInvalid)
			return
		}
		require.NoError(t, req.Validate(d.Limits))
		var in struct {
			Questions []struct {
				Type string  `json:"type"`
				Name *string `json:"name"`
			} `json:"questions"`
		}
		require.NoError(t, json.Unmarshal(body, &in))
		require.Len(t, req.Questions, len(in.Questions))
		var out struct {
			Answers []struct {
				Type string  `json:"type"`
				Name *string `json:"name"`
			} `json:"answers"`
		}
		require.NoError(t, json.Unmarshal(asked.AppendReply(nil, &systemone.Response{Answers: answers(req.Questions)}), &out))
		require.Len(t, out.Answers, len(in.Questions))
		for i, a := range out.Answers {
			require.Equal(t, in.Questions[i].Name, a.Name)
			require.Equal(t, in.Questions[i].Type, a.Type)
		}
	})
}
