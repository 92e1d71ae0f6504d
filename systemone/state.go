package systemone

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// JSON returns v as raw JSON, for guidance and state built by hand. A string is
// written as by [Text] and anything else as by encoding/json, without escapes for
// HTML. A [json.RawMessage] is returned unchanged. Unlike the rest of this package,
// JSON uses reflection.
//
// The result can be a state. It is an error if v is no string, object or array in
// JSON, if encoding/json cannot write it, or if [CheckSyntax] refuses the result. A
// []byte is an error too, because encoding/json would write it in base64: convert
// text to a string and JSON to a [json.RawMessage].
func JSON(v any) (json.RawMessage, error) {
	switch v := v.(type) {
	case string:
		return Text(v), nil
	case json.RawMessage:
		return v, checkState(v)
	case []byte:
		return nil, errors.New("systemone: a []byte is neither text nor JSON: convert it to a string or a json.RawMessage")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("systemone: no JSON: %w", err)
	}
	raw := json.RawMessage(jsontext.Trim(out.Bytes()))
	if err := checkState(raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// checkState returns an error for raw JSON that is invalid or no string, object or
// array.
func checkState(raw json.RawMessage) error {
	if err := CheckSyntax(raw); err != nil {
		return err
	}
	switch jsontext.Trim(raw)[0] {
	case '"', '{', '[':
		return nil
	default:
		return &InvalidError{Issues: []Issue{{Message: "a state or guidance " + mustBeGuidance}}}
	}
}
