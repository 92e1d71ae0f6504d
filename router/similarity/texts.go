package similarity

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// texts returns the string values of raw JSON in the order in which they
// stand: a string is one, an array and an object contribute those of their
// members; names of members, numbers, booleans and null contribute nothing.
// White space is folded and empty strings are left out. Nil has none.
func texts(raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var found []string
	var objects []bool // of the open arrays and objects: is it an object?
	name := false      // is the next string a name?
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(objects) == 0 {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects = append(objects, t == '{')
			} else {
				objects = objects[:len(objects)-1]
			}
		case string:
			if name {
				name = false
				continue
			}
			if t = fold(t); t != "" {
				found = append(found, t)
			}
		}
		name = len(objects) > 0 && objects[len(objects)-1]
	}
}

// fold makes one space of all white space between words.
func fold(text string) string { return strings.Join(strings.Fields(text), " ") }

// spoken makes a text of a name such as billing_issue.
func spoken(name string) string {
	return fold(strings.NewReplacer("_", " ", "-", " ").Replace(name))
}
