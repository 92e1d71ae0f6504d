package systemone_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

// byHand returns a valid request.
func byHand() systemone.Request {
	return systemone.Request{
		Model: "acme/judge",
		State: systemone.Text("the state"),
		Questions: []systemone.Question{
			{Name: "yes", Kind: systemone.Noul, Instructions: systemone.Text("?")},
			{Name: "which", Kind: systemone.Choice, Instructions: systemone.Text("?"), Options: []systemone.Option{{Name: "a"}, {Name: "b"}}},
			{Name: "how", Kind: systemone.Score, Instructions: systemone.Text("?"), Levels: []json.RawMessage{systemone.Text("low"), systemone.Text("high")}},
		},
	}
}

func TestValidate(t *testing.T) {
	require.NoError(t, byHand().Validate(systemone.Limits{}))
	nested := func(n int) json.RawMessage {
		return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	const guidance = "must be a string, an object or an array"
	for _, c := range []struct {
		name   string
		change func(r *systemone.Request)
		want   []string // nil: valid
	}{
		{"zero", func(r *systemone.Request) { *r = systemone.Request{} }, []string{
			"model: must be given", "state: " + guidance, "questions: must be an object with at least one question",
		}},
		{"zero, native", func(r *systemone.Request) { *r = systemone.Request{Dialect: systemone.Native} }, []string{
			"model: must be given", "questions: must be an object with at least one question",
		}},
		{"models name one", func(r *systemone.Request) { r.Model, r.Models = "", systemone.Texts("m") }, nil},
		{"preset names one", func(r *systemone.Request) { r.Model, r.Preset = "", "p" }, nil},
		{"long models", func(r *systemone.Request) {
			r.Model, r.Models = strings.Repeat("é", 256), systemone.Texts(strings.Repeat("é", 256), strings.Repeat("m", 257))
		}, []string{"models.1: must not be longer than 256 characters"}},
		{"a long model", func(r *systemone.Request) { r.Model = strings.Repeat("m", 257) }, []string{
			"model: must not be longer than 256 characters",
		}},
		{"64 models", func(r *systemone.Request) { r.Models = slices.Repeat(systemone.Texts("m"), 64) }, nil},
		{"65 models", func(r *systemone.Request) {
			r.Models = append(slices.Repeat(systemone.Texts("m"), 64), systemone.Entry{})
		}, []string{
			"models: must not have more than 64 models",
		}},
		{"empty fallback", func(r *systemone.Request) { r.Models = systemone.Texts("m", "") }, []string{"models.1: must not be empty"}},
		{"state with spaces", func(r *systemone.Request) { r.State = []byte(" \n[ ] ") }, nil},
		{"state empty", func(r *systemone.Request) { r.State = []byte{} }, []string{"state: " + guidance}},
		{"state null", func(r *systemone.Request) { r.State = []byte("null") }, []string{"state: " + guidance}},
		{"state null, native", func(r *systemone.Request) { r.State, r.Dialect = []byte(" null"), systemone.Native }, nil},
		{"state true, native", func(r *systemone.Request) { r.State, r.Dialect = []byte("true"), systemone.Native }, []string{"state: " + guidance}},
		{"state no JSON", func(r *systemone.Request) { r.State = []byte(`{"a":`) }, []string{
			"state: invalid JSON at byte 5: unexpected end, expected a value",
		}},
		{"state twice", func(r *systemone.Request) { r.State = []byte(`{"a":[{"b":1,"b":1}],"c":0,"c":0}`) }, []string{
			"state.a.0.b: is given more than once", "state.c: is given more than once",
		}},
		{"state as deep as a body takes", func(r *systemone.Request) { r.State = nested(63) }, nil},
		{"state deeper", func(r *systemone.Request) { r.State = nested(64) }, []string{
			"state: invalid JSON at byte 63: nested deeper than 64 levels",
		}},
		{"guidance deeper", func(r *systemone.Request) { r.Questions[1].Options[0].Guidance = nested(61) }, []string{
			"questions.which.criteria.a: invalid JSON at byte 60: nested deeper than 64 levels",
		}},
		{"names", func(r *systemone.Request) {
			r.Questions[1].Name = "yes"
			r.Questions[2].Name = "\xff"
		}, []string{
			"questions.yes: is given more than once", `questions."\xff": must have a name in valid UTF-8`,
		}},
		{"nameless", func(r *systemone.Request) { r.Questions[0].Name = "" }, []string{`questions."": must have a name of 1 to 256 characters`}},
		{"options", func(r *systemone.Request) {
			r.Questions[1].Options = []systemone.Option{{Name: "x"}, {Name: "x"}, {Name: "\xff"}, {Name: "y", Guidance: []byte("1")}}
		}, []string{
			"questions.which.criteria.x: is given more than once", `questions.which.criteria."\xff": must have a name in valid UTF-8`,
			"questions.which.criteria.y: " + guidance,
		}},
		{"no options or levels", func(r *systemone.Request) { r.Questions[1].Options, r.Questions[2].Levels = nil, nil }, []string{
			"questions.which.criteria: must have at least one option", "questions.how.criteria: must have at least one level",
		}},
		{"unknown kind", func(r *systemone.Request) { r.Questions[0].Kind = "bool" }, []string{
			`questions.yes.type: must be "noul", "choice" or "score"`,
		}},
		{"one side", func(r *systemone.Request) { r.Questions[0].True = systemone.Text("x") }, []string{"questions.yes.criteria.false: " + guidance}},
		{"other side, native", func(r *systemone.Request) { r.Questions[0].False, r.Dialect = systemone.Text("x"), systemone.Native }, nil},
		{"both sides null", func(r *systemone.Request) {
			r.Questions[0].True, r.Questions[0].False = []byte("null"), []byte("null")
		}, []string{"questions.yes.criteria.true: " + guidance, "questions.yes.criteria.false: " + guidance}},
		{"null level", func(r *systemone.Request) { r.Questions[2].Levels[1] = nil }, []string{"questions.how.criteria.1: " + guidance}},
		{"null level, native", func(r *systemone.Request) { r.Questions[2].Levels[1], r.Dialect = nil, systemone.Native }, nil},
		{"no instructions", func(r *systemone.Request) { r.Questions[0].Instructions = nil }, []string{"questions.yes.instructions: " + guidance}},
		{"no instructions, native", func(r *systemone.Request) { r.Questions[0].Instructions, r.Dialect = nil, systemone.Native }, nil},
		{"broken instructions", func(r *systemone.Request) { r.Questions[0].Instructions = []byte("x") }, []string{
			"questions.yes.instructions: invalid JSON at byte 0: expected a value",
		}},
		{"broken trace", func(r *systemone.Request) { r.Trace = []byte("{") }, []string{
			"trace: invalid JSON at byte 1: unexpected end, expected a member name",
		}},
		{"null trace", func(r *systemone.Request) { r.Trace = []byte("null") }, nil},
		{"session and user", func(r *systemone.Request) {
			r.SessionID, r.User = strings.Repeat("x", 257), strings.Repeat("x", 257)
		}, []string{"session_id: must not be longer than 256 characters", "user: must not be longer than 256 characters"}},
		{"unknown dialect is strict", func(r *systemone.Request) { r.Dialect, r.State = 7, nil }, []string{"state: " + guidance}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := byHand()
			c.change(&r)
			err := r.Validate(systemone.Limits{})
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.want, issues(t, err))
		})
	}
}
