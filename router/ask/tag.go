package ask

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseTag reads the tags of a question and ignores keys of other packages. Unlike
// [reflect.StructTag.Lookup] it reports a malformed tag instead of ignoring the
// rest of it.
func parseTag(tag string) (Question, error) {
	var q Question
	var seen []string
	for rest := strings.TrimLeft(tag, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		key, after, ok := strings.Cut(rest, ":")
		quoted, err := strconv.QuotedPrefix(after)
		value, broken := strconv.Unquote(quoted)
		if !ok || err != nil || broken != nil || quoted[0] != '"' || key == "" || strings.ContainsAny(key, " \"\t\n") {
			return q, fmt.Errorf(`the struct tag is malformed at %.40q: it consists of key:"value" pairs, where the value is a Go string`, rest)
		}
		rest = after[len(quoted):]
		known, err := q.set(key, value)
		switch {
		case err != nil:
			return q, fmt.Errorf("the tag %s: %w", key, err)
		case known && value == "":
			return q, fmt.Errorf("the tag %s is empty", key)
		case known && slices.Contains(seen, key):
			return q, fmt.Errorf("the tag %s is given more than once", key)
		}
		seen = append(seen, key)
	}
	return q, nil
}

// set stores one tag and reports whether it belongs to this package.
func (q *Question) set(key, value string) (known bool, err error) {
	switch key {
	case "ask":
		q.Name = value
	case "q":
		q.Instructions = value
	case "yes":
		q.Yes = value
	case "no":
		q.No = value
	case "default":
		q.Default = value
	case "options":
		q.Options, err = parseList(value)
	case "levels":
		q.Levels, err = parseList(value)
	case "option", "level", "true", "false", "question":
		return false, errors.New("there is no such tag: use options, levels, yes, no or q")
	default:
		return false, nil
	}
	return true, err
}

// parseList reads the options or levels of a tag. A single entry is a mistake, such
// as commas in place of |: with one option every answer would be certain.
func parseList(text string) ([]Option, error) {
	list, err := parseOptions(text)
	if len(list) == 1 && text != "" {
		return nil, errors.New("there is one entry only; entries are separated by |")
	}
	return list, err
}

// parseOptions reads name=guidance|name=guidance, where =guidance is optional.
// Space around names and guidance is ignored. The characters | and = are escaped by
// a backslash, and so is the backslash; = is an ordinary character of guidance.
func parseOptions(text string) ([]Option, error) {
	var list []Option
	for {
		name, end, err := scan(text, "|=")
		if err != nil {
			return nil, err
		}
		o := Option{Name: name}
		if strings.HasPrefix(text[end:], "=") {
			text = text[end+1:]
			var guidance string
			if guidance, end, err = scan(text, "|"); err != nil {
				return nil, err
			}
			o.Guidance = guidance
		}
		list = append(list, o)
		if end == len(text) {
			return list, nil
		}
		text = text[end+1:]
	}
}

// scan reads text up to the first of the marks that has no backslash before it. It
// returns the text without escapes and without the space around it, and the
// position where it stopped.
func scan(text, marks string) (value string, end int, err error) {
	for ; end < len(text) && !strings.ContainsRune(marks, rune(text[end])); end++ {
		if text[end] == '\\' {
			end++
			if end == len(text) || !strings.ContainsRune(`|=\`, rune(text[end])) {
				return "", 0, errors.New(`a backslash is followed by none of | = \`)
			}
		}
	}
	value = strings.Trim(text[:end], " \t\n")
	if strings.Contains(value, `\`) {
		value = strings.NewReplacer(`\\`, `\`, `\|`, "|", `\=`, "=").Replace(value)
	}
	return value, end, nil
}
