package similarity

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// reader takes the texts out of a request until they have too many bytes.
type reader struct {
	of   string // whose texts, for errors
	most int    // bytes of the texts in all
	size int    // so far
}

// texts returns the string values of raw JSON in the order in which they
// stand: a string is one, an array and an object contribute those of their
// members; names of members, numbers, booleans and null contribute nothing.
// White space is folded and empty strings are left out. Nil has none. Its error
// is [errRequest], [errTooLarge] or that of ctx, which is looked at before every
// value.
func (r *reader) texts(ctx context.Context, raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var found []string
	var objects []bool // of the open arrays and objects: is it an object?
	name := false      // is the next string a name?
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // or a number that no float64 can hold would be an error
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(objects) == 0 {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s no JSON", errRequest, r.of)
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
			if t = foldTo(t, r.most-r.size); t != "" {
				if err := r.take(t); err != nil {
					return nil, err
				}
				found = append(found, t)
			}
		}
		name = len(objects) > 0 && objects[len(objects)-1]
	}
}

// take counts the bytes of a text.
func (r *reader) take(text string) error {
	if r.size += len(text); r.size > r.most {
		return fmt.Errorf("%w: %s more than %d bytes", errTooLarge, r.of, r.most)
	}
	return nil
}

// fold makes one space of all white space between words.
func fold(text string) string { return foldTo(text, math.MaxInt) }

// foldTo folds words until it has more than so many bytes.
func foldTo(text string, most int) string {
	var folded strings.Builder
	folded.Grow(min(len(text), most))
	for word := range strings.FieldsSeq(text) {
		if folded.Len() > 0 {
			folded.WriteByte(' ')
		}
		folded.WriteString(word)
		if folded.Len() > most {
			break
		}
	}
	return folded.String()
}

// spoken makes a text of a name such as billing_issue.
func spoken(name string) string {
	return fold(strings.NewReplacer("_", " ", "-", " ").Replace(name))
}
