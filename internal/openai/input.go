package openai

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/jsontext"
)

const (
	noText = `""`

	mustBeInput   = "must be a string or an array of messages, tool calls and tool outputs"
	mustBeContent = "must be a string or an array of parts"
)

// part is one piece of a content.
type part struct {
	json   []byte
	isText bool // otherwise it is data
}

func textPart(json []byte) part { return part{json: json, isText: true} }

// input writes the state.
func (t *translation) input(value []byte) {
	switch {
	case jsontext.IsNull(value):
		t.fail(mustBeGiven)
	case isText(value):
		t.raw(value)
		return
	case value[0] != '[' || len(value) == 2:
		t.fail(mustBeInput)
	default:
		t.conversation(value)
		return
	}
	t.text(noText)
}

// conversation writes a list of items: the content of a single user message, anything
// else as sent.
func (t *translation) conversation(list []byte) {
	from, only, count := len(t.out), []part(nil), 0
	t.text("[")
	for m := jsontext.Walk(list); m.Next() && !t.full(); {
		t.at(m.Index)
		t.comma(m.Index)
		only = t.item(m.Value)
		count++
		t.leave()
	}
	if count == 1 && only != nil {
		t.out = t.out[:from]
		t.content(only, apart)
		return
	}
	t.text("]")
}

// item writes one message, tool call or tool output. It returns the content of a user
// message.
func (t *translation) item(value []byte) (ofUser []part) {
	if value[0] != '{' {
		t.fail(mustBeObject)
		t.text("{}")
		return nil
	}
	in := known(value, "type", "role", "content", "output")
	switch kind, role := textOf(in[0]), textOf(in[1]); {
	case in[1] != nil && (in[0] == nil || kind == "message"):
		switch role {
		case "user", "developer", "system", "assistant":
		default:
			t.failAt("role", `must be "user", "developer", "system" or "assistant"`)
		}
		t.enter("content")
		parts := t.parts(in[2], mustBeContent)
		t.leave()
		if role == "user" {
			ofUser = parts
		}
	case kind == "function_call":
		t.texts(value, "call_id", "name", "arguments")
	case kind == "custom_tool_call":
		t.texts(value, "call_id", "name", "input")
	case kind == "function_call_output", kind == "custom_tool_call_output":
		t.texts(value, "call_id")
		t.enter("output")
		t.parts(in[3], mustBeContent)
		t.leave()
	default:
		t.fail("must be a message, a tool call or a tool output")
	}
	t.asSent(value)
	return ofUser
}

// texts notes which of the named members are no strings.
func (t *translation) texts(object []byte, names ...string) {
	for i, value := range known(object, names...) {
		if i < len(names) && !isText(value) {
			t.failAt(names[i], mustBeString)
		}
	}
}

// asSent writes an item without cache breakpoints and without members that are null.
func (t *translation) asSent(object []byte) {
	t.text("{")
	first := true
	for m := jsontext.Walk(object); m.Next(); {
		name := string(m.Name)
		if name == "prompt_cache_breakpoint" || jsontext.IsNull(m.Value) {
			continue
		}
		t.text(pick(first, "", ","))
		first = false
		t.out = append(jsontext.AppendString(t.out, name), ':')
		if (name == "content" || name == "output") && m.Value[0] == '[' {
			t.partsAsSent(m.Value)
		} else {
			t.raw(m.Value)
		}
	}
	t.text("}")
}

func (t *translation) partsAsSent(list []byte) {
	t.text("[")
	for m := jsontext.Walk(list); m.Next(); {
		t.comma(m.Index)
		if m.Value[0] == '{' {
			t.asSent(m.Value)
		} else {
			t.raw(m.Value)
		}
	}
	t.text("]")
}

// parts reads a content, and notes otherwise where it is neither a string nor a list of
// at least one part.
func (t *translation) parts(value []byte, otherwise string) []part {
	switch {
	case isText(value):
		return []part{textPart(value)}
	case len(value) <= len("[]") || value[0] != '[':
		t.fail(otherwise)
		return []part{textPart([]byte(noText))}
	}
	var list []part
	for m := jsontext.Walk(value); m.Next() && !t.full(); {
		t.at(m.Index)
		list = append(list, t.part(m.Value))
		t.leave()
	}
	return list
}

func (t *translation) part(value []byte) part {
	nothing := textPart([]byte(noText))
	if value[0] != '{' {
		t.fail(mustBeObject)
		return nothing
	}
	in := known(value, "type", "text", "data", "refusal")
	text := in[1]
	name := "text"
	switch textOf(in[0]) {
	case "input_text", "output_text":
	case "refusal":
		text, name = in[3], "refusal"
	case "input_json":
		if data := in[2]; data != nil && (data[0] == '{' || data[0] == '[') {
			return part{json: data}
		}
		t.failAt("data", "must be an object or an array of objects")
		return nothing
	case "input_image":
		t.fail(noImages)
		return nothing
	default:
		t.failAt("type", `must be "input_text" or "input_json"`)
		return nothing
	}
	if !isText(text) {
		t.failAt(name, mustBeString)
		return nothing
	}
	return textPart(text)
}

// form says how several parts are written.
type form bool

const (
	joined form = false // texts alone as one text, otherwise an array of the contents
	apart  form = true  // the parts of a System One state
)

// content writes parts as one value.
func (t *translation) content(list []part, as form) {
	switch {
	case len(list) == 0: // only where there are too many problems to read on
		t.text(noText)
	case len(list) == 1:
		t.raw(list[0].json)
	case as == apart:
		for i, p := range list {
			t.text(pick(i == 0, "[", ","))
			t.text(pick(p.isText, `{"type":"text","text":`, `{"type":"json","value":`))
			t.raw(p.json)
			t.text("}")
		}
		t.text("]")
	default:
		t.join(list)
	}
}

// join writes texts as one text, with a blank line between two of them, and anything
// else as an array.
func (t *translation) join(list []part) {
	if !slices.ContainsFunc(list, func(p part) bool { return !p.isText }) {
		texts := make([]string, 0, len(list))
		for _, p := range list {
			texts = append(texts, textOf(p.json))
		}
		t.raw(quoted(strings.Join(texts, "\n\n")))
		return
	}
	for i, p := range list {
		t.text(pick(i == 0, "[", ","))
		t.raw(p.json)
	}
	t.text("]")
}
