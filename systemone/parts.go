package systemone

import (
	"encoding/json"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// UnwrapParts turns a state made of parts into one for an endpoint that does not
// take parts. Such a state is an array of at least one element, each exactly
// {"type":"text","text":string} or {"type":"json","value":any}. One part becomes
// its content, if that is a valid state (a string, object or array). Otherwise the
// state becomes the array of the contents. Anything else, including what
// [CheckSyntax] refuses, is returned unchanged.
func UnwrapParts(state json.RawMessage) json.RawMessage {
	value := jsontext.Trim(state)
	if len(value) == 0 || value[0] != '[' || CheckSyntax(value) != nil {
		return state
	}
	var contents []json.RawMessage
	for m := jsontext.Walk(value); m.Next(); {
		content := partContent(m.Value)
		if content == nil {
			return state
		}
		contents = append(contents, content)
	}
	switch {
	case len(contents) == 0:
		return state
	case len(contents) == 1 && (contents[0][0] == '"' || contents[0][0] == '{' || contents[0][0] == '['):
		return contents[0]
	}
	out := make([]byte, 0, len(value))
	mark := byte('[')
	for _, content := range contents {
		out = append(append(out, mark), content...)
		mark = ','
	}
	return append(out, ']')
}

// partContent returns the content of a part, or nil if value is no part.
func partContent(value []byte) []byte {
	if value[0] != '{' {
		return nil
	}
	var kind string
	var text, content []byte
	for m := jsontext.Walk(value); m.Next(); {
		switch string(m.Name) {
		case "type":
			if m.Value[0] == '"' {
				kind = string(jsontext.Unquote(m.Value))
			}
		case "text":
			text = m.Value
		case "value":
			content = m.Value
		default:
			return nil
		}
	}
	switch {
	case kind == "text" && content == nil && text != nil && text[0] == '"':
		return text
	case kind == "json" && text == nil:
		return content
	}
	return nil
}
