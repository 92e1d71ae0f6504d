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

// reader extracts texts from a request until they exceed a number of bytes.
type reader struct {
	of   string // subject and verb of its errors
	most int    // maximum size of all texts, in bytes
	size int    // bytes so far
}

// texts returns the string values of raw JSON in their order, including those in arrays
// and objects. Names of members, numbers, booleans and null are ignored. White space is
// folded, and empty strings are left out. A nil raw has no texts.
//
// The error is [errRequest], [errTooLarge] or that of ctx, which is checked before every
// value.
func (r *reader) texts(ctx context.Context, raw json.RawMessage) ([]string, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var found []string
	var objects []bool // for each open container: is it an object?
	name := false      // is the next string the name of a member?
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // otherwise a number beyond float64 would be an error
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		token, err := d.Token()
		if errors.Is(err, io.EOF) && len(objects) == 0 {
			return found, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s not JSON", errRequest, r.of)
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

// take adds the size of a text and fails if the sum exceeds the maximum.
func (r *reader) take(text string) error {
	if r.size += len(text); r.size > r.most {
		return fmt.Errorf("%w: %s more than %d bytes", errTooLarge, r.of, r.most)
	}
	return nil
}

// fold replaces each run of white space between words by one space.
func fold(text string) string { return foldTo(text, math.MaxInt) }

// foldTo is fold that stops after the first word beyond most bytes.
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

// spoken converts a name such as billing_issue to a text.
func spoken(name string) string {
	return fold(strings.NewReplacer("_", " ", "-", " ").Replace(name))
}
