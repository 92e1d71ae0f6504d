package main

import (
	"bytes"
	_ "embed" // the default questions
	"encoding/json"
	"errors"
	"fmt"

	"github.com/signalbox/signalbox/systemone"
)

// defaultQuestions are the questions about a support ticket that are asked unless -questions names others.
//
//go:embed questions.json
var defaultQuestions []byte

// parseQuestions reads questions by name, in their order, by the rules for a request.
func parseQuestions(raw []byte) ([]systemone.Question, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if err := json.Unmarshal(raw, new(json.RawMessage)); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			read := raw[:min(int(syntax.Offset), len(raw))]
			return nil, fmt.Errorf("line %d: not JSON: %w", 1+bytes.Count(read, []byte("\n")), err)
		}
		return nil, err
	}
	body := append([]byte(`{"model":"any/model","state":"any","questions":`), raw...)
	request, err := systemone.Decoder{}.Decode(append(body, '}'))
	if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok && len(invalid.Issues) > 0 {
		return nil, mistakes(invalid.Issues)
	}
	if err != nil {
		return nil, err
	}
	return request.Questions, nil
}

// mistakes tells the first problems with their places.
func mistakes(issues []systemone.Issue) error {
	var text bytes.Buffer
	for i, issue := range issues {
		if i == maxNotes {
			fmt.Fprintf(&text, "; and %d more", len(issues)-i)
			break
		}
		if i > 0 {
			text.WriteString("; ")
		}
		fmt.Fprintf(&text, "%s: %s", issue.Path, issue.Message)
	}
	return errors.New(text.String())
}
