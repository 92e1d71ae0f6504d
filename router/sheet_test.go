package router_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// sheet is all that decides whether two calls ask the same.
type sheet struct {
	account  string
	endpoint router.Endpoint
	model    router.Model
	attempt  router.Attempt
}

func newSheet() *sheet {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	return &sheet{
		account:  "acme",
		endpoint: router.Endpoint{ID: uuid.UUID{1}},
		model:    router.Model{Permaslug: "typesafe/jev-1.13-20261101"},
		attempt: router.Attempt{
			Model: "jev", User: "u", Credential: "secret", Options: raw(`{"a":1}`),
			RequestID: "r1",
			Request: &systemone.Request{State: raw(`"a text"`), Questions: []systemone.Question{
				{Name: "refund", Kind: systemone.Noul, Instructions: raw(`"refund?"`), True: raw(`"y"`), False: raw(`"n"`)},
				{Name: "desk", Kind: systemone.Choice, Instructions: raw(`"which?"`), Options: []systemone.Option{{Name: "ab"}, {Name: "c", Guidance: raw(`"d"`)}}},
				{Name: "mood", Kind: systemone.Score, Instructions: raw(`"how?"`), Levels: []json.RawMessage{raw(`"low"`), raw(`"high"`)}},
			}},
		},
	}
}

func (s *sheet) digest() [32]byte {
	return router.SheetOf(s.account, &s.endpoint, &s.model, &s.attempt)
}

// TestTheSameSheetHasTheSameKey changes one thing after the other. What goes upstream
// makes another sheet, and so does another account.
func TestTheSameSheetHasTheSameKey(t *testing.T) {
	t.Parallel()
	q := func(s *sheet, i int) *systemone.Question { return &s.attempt.Request.Questions[i] }
	seen := map[[32]byte]string{newSheet().digest(): "none"}
	for name, change := range map[string]func(*sheet){
		"account":              func(s *sheet) { s.account = "other" },
		"credential":           func(s *sheet) { s.attempt.Credential = "" },
		"moved byte":           func(s *sheet) { s.account, s.attempt.Credential = "acmes", "ecret" },
		"endpoint":             func(s *sheet) { s.endpoint.ID[0]++ },
		"dated model":          func(s *sheet) { s.model.Permaslug += "1" },
		"upstream model":       func(s *sheet) { s.attempt.Model = "jev2" },
		"user":                 func(s *sheet) { s.attempt.User = "" },
		"options":              func(s *sheet) { s.attempt.Options = nil },
		"dialect":              func(s *sheet) { s.attempt.Request.Dialect = systemone.Native },
		"state":                func(s *sheet) { s.attempt.Request.State = json.RawMessage(`"a  text"`) },
		"null state":           func(s *sheet) { s.attempt.Request.State = nil },
		"name":                 func(s *sheet) { q(s, 0).Name = "Refund" },
		"kind":                 func(s *sheet) { q(s, 0).Kind = systemone.Choice },
		"instructions":         func(s *sheet) { q(s, 0).Instructions = nil },
		"criteria swapped":     func(s *sheet) { q(s, 0).True, q(s, 0).False = q(s, 0).False, q(s, 0).True },
		"no criteria":          func(s *sheet) { q(s, 0).True, q(s, 0).False = nil, nil },
		"option order":         func(s *sheet) { o := q(s, 1).Options; o[0], o[1] = o[1], o[0] },
		"option name":          func(s *sheet) { q(s, 1).Options[0].Name = "a"; q(s, 1).Options[1].Name = "bc" },
		"guidance":             func(s *sheet) { q(s, 1).Options[1].Guidance = nil },
		"guidance moved":       func(s *sheet) { o := q(s, 1).Options; o[0].Guidance, o[1].Guidance = o[1].Guidance, nil },
		"fewer options":        func(s *sheet) { q(s, 1).Options = q(s, 1).Options[:1] },
		"levels":               func(s *sheet) { q(s, 2).Levels = q(s, 2).Levels[:1] },
		"null level":           func(s *sheet) { q(s, 2).Levels[0] = nil },
		"fewer questions":      func(s *sheet) { s.attempt.Request.Questions = s.attempt.Request.Questions[:2] },
		"order of questions":   func(s *sheet) { a, b := q(s, 0), q(s, 1); *a, *b = *b, *a },
		"names swapped":        func(s *sheet) { a, b := q(s, 0), q(s, 1); a.Name, b.Name = b.Name, a.Name },
		"null as a text":       func(s *sheet) { q(s, 0).Instructions = json.RawMessage(`null`) },
		"an empty list before": func(s *sheet) { q(s, 1).Options = nil },
	} {
		s := newSheet()
		change(s)
		d := s.digest()
		assert.Empty(t, seen[d], "%s is not seen", name)
		seen[d] = name
	}
	for name, change := range map[string]func(*sheet){
		"request id": func(s *sheet) { s.attempt.RequestID = "r2" },
		"legend":     func(s *sheet) { s.model.ID = "other" },
	} {
		s := newSheet()
		change(s)
		assert.Equal(t, newSheet().digest(), s.digest(), name)
	}
}

// TestAQuestionIsTheSameUnderAnyName: a remembered answer is found by what was asked.
func TestAQuestionIsTheSameUnderAnyName(t *testing.T) {
	t.Parallel()
	a := newSheet().attempt.Request.Questions[1]
	b := a
	b.Name = "renamed"
	require.Equal(t, router.QuestionOf(a), router.QuestionOf(b))
}

// BenchmarkSheetKey is what a call pays to find others that ask the same: ten
// questions over a state of 2 KB.
func BenchmarkSheetKey(b *testing.B) {
	s := newSheet()
	s.attempt.Request.State = json.RawMessage(`"` + string(make([]byte, 2000)) + `"`)
	for len(s.attempt.Request.Questions) < 10 {
		s.attempt.Request.Questions = append(s.attempt.Request.Questions, s.attempt.Request.Questions[1])
	}
	b.ReportAllocs()
	for b.Loop() {
		s.digest()
	}
}
