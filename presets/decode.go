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

// Shape is a form of a request that presets are made from.
type Shape uint8

// The shapes, by the end of the path that takes them.
const (
	ChatCompletions Shape = iota
	Messages
	Responses
)

// MaxVersionBytes is how large a version may be: its configuration and its
// system prompt as they stand in a reply, which writes some characters as six.
const MaxVersionBytes = 64 << 10

// Draft is what a body makes of a preset.
type Draft struct {
	// Config is the JSON object of the members that are kept, with their
	// values as they were sent. It shares no memory with the body.
	Config       json.RawMessage
	SystemPrompt string // "" for none
}

// Decode checks a body and takes from it what a preset keeps. U+0000 may stand
// in nothing that is kept, for not every store could hold it. What it takes as
// JSON at all, [systemone.CheckSyntax] says. What is kept has at most
// [MaxVersionBytes]. Every member with a documented
// bound is checked, also one that is not kept; a null member counts as absent,
// and members that nobody knows are ignored. The error is a
// [*systemone.InvalidError] with every problem, up to 100.
//
// The deprecated route becomes provider.sort.partition, unless that is given.
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

// size is how many bytes a draft has in a reply.
func (d Draft) size() int { return len(d.Config) + jsonsize.Text(d.SystemPrompt) }

// largest names the member that takes the most room in a draft.
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

// prompt names the member that the system prompt is taken from.
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

// sameEffort notes two efforts that differ.
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

// config is the object of the members that are kept.
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

// systemPrompt checks what the shape has of a conversation and returns the
// system's part of it.
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

// message takes an object with a known role. The content of those that speak
// for the system goes to system, if there is one.
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

// textsOf returns a text, or those of an array of parts. Parts that are no
// text are passed over.
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
