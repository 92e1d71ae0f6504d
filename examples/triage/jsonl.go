package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseLine makes a document of a line of JSON Lines: its state is the value, or the member that the
// caller named, as it is written.
func (o options) parseLine(raw []byte) (document, error) {
	var doc document
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) {
		return document{}, errors.New("not valid UTF-8")
	}
	if !json.Valid(raw) {
		var v any
		return document{}, fmt.Errorf("not JSON: %w", json.Unmarshal(raw, &v))
	}
	doc.state = raw
	if o.state != "" || o.id != "" {
		var members map[string]json.RawMessage
		if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
			return document{}, errors.New("not a JSON object: it has no members")
		}
		if o.state != "" {
			doc.state = members[o.state]
		}
		if doc.state == nil {
			return document{}, fmt.Errorf("no member %q for the state", o.state)
		}
		var err error
		if doc.id, err = o.identify(members); err != nil {
			return document{}, err
		}
	}
	switch doc.state[0] {
	case '"', '{', '[':
		doc.title = preview(doc.state)
		return doc, nil
	}
	return document{}, errors.New("the state must be a string, an object or an array")
}

// identify is the member that names an item: a text, or a number as it is written.
func (o options) identify(members map[string]json.RawMessage) (string, error) {
	if o.id == "" {
		return "", nil
	}
	raw, ok := members[o.id]
	if !ok {
		return "", fmt.Errorf("no member %q for the id", o.id)
	}
	var text string
	var number json.Number
	if json.Unmarshal(raw, &number) == nil && raw[0] != '"' && number != "" {
		return number.String(), nil
	}
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil || text == "" {
		return "", fmt.Errorf("the id in member %q must be a text or a number", o.id)
	}
	return text, nil
}

// previewed is how many bytes of strings a preview is made of.
const previewed = 200

// preview is the beginning of the strings within a state, without the names of members.
func preview(state json.RawMessage) string {
	var words []string
	var objects []bool // for each open bracket, whether it is an object
	name := false      // the next string is the name of a member
	length := 0
	d := json.NewDecoder(bytes.NewReader(state))
	for length < previewed {
		token, err := d.Token()
		if err != nil {
			break
		}
		text, isText := token.(string)
		switch {
		case isText && name:
			name = false
			continue
		case isText:
			words = append(words, strings.Fields(text)...)
			length += len(text)
		case token == json.Delim('{'), token == json.Delim('['):
			objects = append(objects, token == json.Delim('{'))
		case token == json.Delim('}'), token == json.Delim(']'):
			objects = objects[:len(objects)-1]
		}
		name = len(objects) > 0 && objects[len(objects)-1]
	}
	return strings.Join(words, " ")
}
