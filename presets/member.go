package presets

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

const (
	maxSessionID     = 256 // characters
	maxMetadata      = 16  // pairs
	maxMetadataKey   = 64  // characters
	maxMetadataValue = 512 // characters
	maxStops         = 4
)

// member is a member of a body that has a bound or is kept.
type member struct {
	name string
	rule rule
	kept bool // in the preset; other members are checked and dropped
}

// members lists the members that all three shapes of a request have in common. It
// alone says which are kept.
func members() []member {
	free := object()
	return []member{
		{"model", text(0), true},
		{"models", list(0, 0, either(text(0), entry)), true},
		{"temperature", between(0, 2), true},
		{"top_p", between(0, 1), true},
		{"top_k", integer, true},
		{"min_p", number, true},
		{"top_a", number, true},
		{"repetition_penalty", number, true},
		{"frequency_penalty", between(-2, 2), true},
		{"presence_penalty", between(-2, 2), true},
		{"logit_bias", mapOf(number), true},
		{"logprobs", boolean, true},
		{"top_logprobs", wholeBetween(0, 20), true},
		{"max_completion_tokens", integer, true},
		{"max_tokens", integer, true},
		{"seed", integer, true},
		{"stop", either(text(0), list(0, maxStops, text(0))), true},
		{"modalities", list(0, 0, word("text", "image", "audio")), true},
		{"parallel_tool_calls", boolean, true},
		{"tools", list(0, 0, free), true},
		{"tool_choice", either(word("none", "auto", "required"), free), true},
		{"stop_server_tools_when", list(1, 0, stopCondition), true},
		{"plugins", list(0, 0, free), true},
		{"prediction", object(field{"type", word("content"), true}, field{"content", either(text(0), list(0, 0, free)), true}), true},
		{"response_format", object(field{"type", text(0), true}), true},
		{"reasoning", object(field{"effort", effort(), false}, field{"summary", text(0), false}), true},
		{"reasoning_effort", effort(), true},
		{"service_tier", word("auto", "default", "fast", "flex", "priority", "scale", "ultrafast"), true},
		{"provider", preferences, true},
		{"cache_control", object(field{"type", word("ephemeral"), true}, field{"ttl", text(0), false}), true},
		{"prompt_cache_options", object(field{"mode", word("explicit"), false}, field{"ttl", text(0), false}), true},
		{"image_config", free, true},
		{"metadata", metadata, true},

		{"route", word("fallback", "sort"), false}, // kept as a part of provider
		{"stream", boolean, false},
		{"stream_options", object(field{"include_usage", boolean, false}), false},
		{"debug", object(field{"echo_upstream_body", boolean, false}), false},
		{"session_id", text(maxSessionID), false},
		{"trace", trace(), false},
		{"user", text(0), false},
		{"prompt_cache_key", text(0), false},
	}
}

func effort() rule { return word("max", "xhigh", "high", "medium", "low", "minimal", "none") }

func trace() rule {
	t := text(0)
	return object(
		field{"trace_id", t, false}, field{"trace_name", t, false}, field{"span_name", t, false},
		field{"generation_name", t, false}, field{"parent_span_id", t, false},
	)
}

// stopCondition accepts objects with a type. Objects of the two documented types must
// also have their figure.
func stopCondition(p *problems, path string, value json.RawMessage) {
	object(field{"type", text(0), true})(p, path, value)
	members, _ := jsontext.Members(value)
	switch wordOf(members["type"]) {
	case "step_count_is":
		field{"step_count", integer, true}.check(p, path, members)
	case "max_cost":
		field{"max_cost_in_dollars", number, true}.check(p, path, members)
	}
}

// metadata accepts a few short texts. A null text counts as absent.
func metadata(p *problems, path string, value json.RawMessage) {
	members, ok := jsontext.Members(value)
	if !ok {
		p.add(path, "must be an object")
		return
	}
	if len(members) > maxMetadata {
		p.add(path, "must have at most "+strconv.Itoa(maxMetadata)+" pairs")
		return
	}
	for _, name := range sortedNames(members) {
		if utf8.RuneCountInString(name) > maxMetadataKey {
			p.add(within(path, name), "must have a key of at most "+strconv.Itoa(maxMetadataKey)+" characters")
		}
		if value := members[name]; !jsontext.IsNull(value) {
			text(maxMetadataValue)(p, within(path, name), value)
		}
	}
}

// entry accepts a model of a decision that is not a plain text. Its condition may
// name any question, because a preset has none.
func entry(p *problems, path string, value json.RawMessage) {
	var e systemone.Entry
	p.below(path, e.UnmarshalJSON(value))
}

// preferences accepts the provider preferences of a decision.
func preferences(p *problems, path string, value json.RawMessage) {
	_, err := systemone.DecodePreferences(value)
	p.below(path, err)
}

// below adds the mistakes of an error of package systemone in the value at path.
func (p *problems) below(path string, err error) {
	invalid, ok := errors.AsType[*systemone.InvalidError](err)
	if !ok {
		return
	}
	for _, is := range invalid.Issues {
		at := path
		if is.Path != "" {
			at += "." + is.Path
		}
		p.add(at, is.Message)
	}
}

func sortedNames(members map[string]json.RawMessage) []string {
	return slices.Sorted(maps.Keys(members))
}
