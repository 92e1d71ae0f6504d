package presets

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/jsonsize"
	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

// Shape is a form of chat request from which presets are made.
type Shape uint8

// The shapes, by the end of the path that takes them.
const (
	ChatCompletions Shape = iota
	Messages
	Responses
)

// MaxVersionBytes bounds a version: its configuration and its system prompt, in bytes
// as a reply writes them, where some characters take six.
const MaxVersionBytes = 64 << 10

// Draft holds the parts of a body that a preset keeps.
type Draft struct {
	// Config is the JSON object of the members that are kept, with their
	// values as they were sent. It shares no memory with the body.
	Config       json.RawMessage
	SystemPrompt string // "" for none
}

// Decode checks a body and returns the parts of it that a preset keeps. The body must
// be JSON by the rules of [systemone.CheckSyntax]. Every member with a documented
// bound is checked, also if it is not kept. A null member counts as absent, and
// unknown members are ignored. The kept parts must have at most [MaxVersionBytes],
// and no U+0000, which some stores cannot keep. The error is a
// [*systemone.InvalidError] with all mistakes, up to 100.
//
// The deprecated member route becomes provider.sort.partition, unless that is given.
func Decode(shape Shape, body []byte) (Draft, error) {
	if err := systemone.CheckSyntax(body); err != nil {
		return Draft{}, err
	}
	var p problems
	given, ok := jsontext.Members(jsontext.Trim(body))
	if !ok {
		p.add("", "must be an object")
		return Draft{}, p.err()
	}
	all := members()
	for _, m := range all {
		field{name: m.name, rule: m.rule}.check(&p, "", given)
		if value := given[m.name]; m.kept && !jsontext.IsNull(value) {
			storable(&p, m.name, value)
		}
	}
	sameEffort(&p, given)
	prompt := systemPrompt(shape, &p, given)
	if err := p.err(); err != nil {
		return Draft{}, err
	}
	if provider := withRoute(given["provider"], given["route"]); provider != nil {
		given["provider"] = provider
	}
	draft := Draft{Config: config(all, given), SystemPrompt: prompt}
	if n := draft.size(); n > MaxVersionBytes {
		p.add(largest(shape, draft), "makes the preset too large: its settings and its system prompt must have at most "+
			strconv.Itoa(MaxVersionBytes)+" bytes as JSON and have "+strconv.Itoa(n))
	}
	return draft, p.err()
}

// size returns how many bytes a draft takes in a reply.
func (d Draft) size() int { return len(d.Config) + jsonsize.Text(d.SystemPrompt) }

// largest returns the name of the largest member of a draft.
func largest(shape Shape, d Draft) string {
	name, most := shape.prompt(), jsonsize.Text(d.SystemPrompt)
	members, _ := jsontext.Members(d.Config)
	for _, member := range sortedNames(members) {
		if n := len(members[member]); n > most {
			name, most = member, n
		}
	}
	return name
}

// prompt returns the name of the member that holds the system prompt.
func (s Shape) prompt() string {
	switch s {
	case Messages:
		return "system"
	case Responses:
		return "instructions"
	default:
		return "messages"
	}
}

// sameEffort adds a mistake if the two efforts differ.
func sameEffort(p *problems, given map[string]json.RawMessage) {
	reasoning, _ := jsontext.Members(given["reasoning"])
	long, short := wordOf(reasoning["effort"]), wordOf(given["reasoning_effort"])
	if long != "" && short != "" && long != short {
		p.add("reasoning_effort", "must not differ from reasoning.effort")
	}
}

// withRoute returns the provider preferences with a route as their partition;
// nil leaves them as they are.
func withRoute(provider, route json.RawMessage) json.RawMessage {
	var partition string
	switch wordOf(route) {
	case "fallback":
		partition = `"model"`
	case "sort":
		partition = `"none"`
	default:
		return nil
	}
	preferences, sort := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if !jsontext.IsNull(provider) {
		preferences, _ = jsontext.Members(provider)
	}
	switch old := preferences["sort"]; {
	case jsontext.IsNull(old):
	case old[0] == '"':
		sort["by"] = old
	default:
		sort, _ = jsontext.Members(old)
	}
	if !jsontext.IsNull(sort["partition"]) {
		return nil
	}
	sort["partition"] = json.RawMessage(partition)
	preferences["sort"] = appendObject(nil, sortedNames(sort), sort)
	return appendObject(nil, sortedNames(preferences), preferences)
}

// config returns the object of the members that are kept.
func config(all []member, given map[string]json.RawMessage) json.RawMessage {
	var names []string
	for _, m := range all {
		if m.kept && !jsontext.IsNull(given[m.name]) {
			names = append(names, m.name)
		}
	}
	return appendObject(nil, names, given)
}

func appendObject(dst []byte, names []string, members map[string]json.RawMessage) []byte {
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(systemone.AppendString(dst, name), ':')
		dst = append(dst, members[name]...)
	}
	return append(dst, '}')
}

// systemPrompt checks the conversation of a body, and returns the texts of its system
// messages.
func systemPrompt(shape Shape, p *problems, given map[string]json.RawMessage) string {
	var texts []string
	take := func(p *problems, path string, value json.RawMessage) {
		texts = append(texts, textsOf(p, path, value)...)
	}
	conversation := field{"messages", list(1, 0, message([]string{"system", "developer", "user", "assistant", "tool"}, take)), true}
	switch shape {
	case Messages:
		conversation.rule = list(1, 0, message([]string{"user", "assistant", "system"}, nil))
		field{"system", take, false}.check(p, "", given)
	case Responses:
		conversation = field{"input", either(text(0), list(0, 0, object())), false}
		field{"instructions", either(take, text(0)), false}.check(p, "", given)
	case ChatCompletions:
	}
	conversation.check(p, "", given)
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	return strings.Join(texts, "\n\n")
}

// message accepts an object with a known role. The content of system messages must
// satisfy system, unless that is nil.
func message(roles []string, system rule) rule {
	role := field{"role", word(roles...), true}
	return func(p *problems, path string, value json.RawMessage) {
		object(role, field{"name", text(0), false})(p, path, value)
		members, _ := jsontext.Members(value)
		if r := wordOf(members["role"]); system != nil && (r == "system" || r == "developer") {
			field{"content", system, true}.check(p, path, members)
		}
	}
}

// textsOf returns a text, or the texts of an array of parts. It skips parts without a
// text.
func textsOf(p *problems, path string, value json.RawMessage) []string {
	if s, ok := jsontext.Text(value); ok {
		storable(p, path, value)
		return []string{s}
	}
	var texts []string
	list(0, 0, func(p *problems, path string, part json.RawMessage) {
		object(field{"type", text(0), true})(p, path, part)
		members, _ := jsontext.Members(part)
		if wordOf(members["type"]) != "text" {
			return
		}
		field{"text", text(0), true}.check(p, path, members)
		if !jsontext.IsNull(members["text"]) {
			storable(p, within(path, "text"), members["text"])
		}
		texts = append(texts, wordOf(members["text"]))
	})(p, path, value)
	return texts
}
