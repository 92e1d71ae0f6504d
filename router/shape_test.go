package router_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

func TestShapeOf(t *testing.T) {
	text := func(n int) json.RawMessage { return json.RawMessage(`"` + strings.Repeat("x", n-2) + `"`) }
	r := &systemone.Request{
		State: text(41), // 11 tokens begun
		User:  "u",
		Questions: []systemone.Question{
			{Name: "abc", Kind: systemone.Noul, Instructions: text(10), True: text(4), False: text(5)},
			{Name: "b", Kind: systemone.Choice, Instructions: text(10), Options: []systemone.Option{
				{Name: "xy", Guidance: text(3)}, {Name: "z", Guidance: text(3)}, {Name: "zz", Guidance: text(3)},
			}},
			{Name: "c", Kind: systemone.Choice, Instructions: text(2), Options: []systemone.Option{{Name: "q", Guidance: text(2)}}},
			{Name: "d", Kind: systemone.Score, Instructions: text(10), Levels: []json.RawMessage{text(6), text(7)}},
		},
	}
	assert.Equal(t, router.Shape{
		Questions: 4, Options: 3, Levels: 2,
		StateTokens:      11,
		PromptTokens:     30, // 41 + 22 + 25 + 6 + 24 bytes
		CompletionTokens: 1 + 3 + 1 + 2,
		Parameters:       []string{"user"},
	}, router.ShapeOf(r))
}

func TestShapeOfNulls(t *testing.T) {
	x, null := json.RawMessage(`"x"`), json.RawMessage(`null`)
	for name, c := range map[string]struct {
		nulls    string // "", "option" or "other"
		state    json.RawMessage
		question systemone.Question
	}{
		"none":                    {"", x, systemone.Question{Kind: systemone.Noul, Instructions: x}},
		"both sides":              {"", x, systemone.Question{Kind: systemone.Noul, Instructions: x, True: x, False: x}},
		"both sides null":         {"", x, systemone.Question{Kind: systemone.Noul, Instructions: x, True: null, False: nil}},
		"one side":                {"other", x, systemone.Question{Kind: systemone.Noul, Instructions: x, True: x}},
		"no instructions":         {"other", x, systemone.Question{Kind: systemone.Noul}},
		"null instructions":       {"other", x, systemone.Question{Kind: systemone.Noul, Instructions: null}},
		"null state":              {"other", null, systemone.Question{Kind: systemone.Noul, Instructions: x}},
		"an option with guidance": {"", x, systemone.Question{Kind: systemone.Choice, Instructions: x, Options: []systemone.Option{{Name: "a", Guidance: x}}}},
		"an option without":       {"option", x, systemone.Question{Kind: systemone.Choice, Instructions: x, Options: []systemone.Option{{Name: "a"}}}},
		"a level":                 {"", x, systemone.Question{Kind: systemone.Score, Instructions: x, Levels: []json.RawMessage{x}}},
		"a null level":            {"other", x, systemone.Question{Kind: systemone.Score, Instructions: x, Levels: []json.RawMessage{x, null}}},
	} {
		r := &systemone.Request{State: c.state, Questions: []systemone.Question{c.question}}
		s := router.ShapeOf(r)
		assert.Equal(t, c.nulls != "", s.Nulls, name)
		assert.Equal(t, c.nulls == "other", s.OtherNulls, name)
	}
}
