package httpapi_test

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// check compares a value with a schema and returns the differences. It implements the
// part of JSON Schema that the document uses.
func (d document) check(schema map[string]any, v any, path string) []string {
	schema = d.object(schema)
	var wrong []string
	bad := func(format string, args ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, args...)) }
	if types := texts(schema["type"]); len(types) > 0 && !slices.Contains(types, typeOf(v)) &&
		(typeOf(v) != "integer" || !slices.Contains(types, "number")) {
		bad("is %s, not %v", typeOf(v), types)
		return wrong
	}
	if c, ok := schema["const"]; ok && c != v {
		bad("is not %v", c)
	}
	if e, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(e, func(x any) bool { return fmt.Sprint(x) == fmt.Sprint(v) }) {
		bad("%v is none of %v", v, e)
	}
	for _, part := range list(schema["allOf"]) {
		wrong = append(wrong, d.check(d.object(part), v, path)...)
	}
	for word, atMost := range map[string]int{"anyOf": 99, "oneOf": 1} {
		if parts := list(schema[word]); len(parts) > 0 {
			fits := 0
			for _, part := range parts {
				if len(d.check(d.object(part), v, path)) == 0 {
					fits++
				}
			}
			if fits == 0 || fits > atMost {
				bad("%s fits %d times", word, fits)
			}
		}
	}
	switch v := v.(type) {
	case map[string]any:
		wrong = append(wrong, d.checkObject(schema, v, path)...)
	case []any:
		if n, ok := schema["minItems"].(int); ok && len(v) < n {
			bad("has %d items", len(v))
		}
		if n, ok := schema["maxItems"].(int); ok && len(v) > n {
			bad("has %d items", len(v))
		}
		for i, item := range v {
			if items := d.object(schema["items"]); items != nil {
				wrong = append(wrong, d.check(items, item, fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	case string:
		if n, ok := schema["maxLength"].(int); ok && utf8.RuneCountInString(v) > n {
			bad("is too long")
		}
		if n, ok := schema["minLength"].(int); ok && utf8.RuneCountInString(v) < n {
			bad("is too short")
		}
		if p, ok := schema["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			bad("%q does not match %s", v, p)
		}
	case float64:
		if n, ok := schema["minimum"].(int); ok && v < float64(n) {
			bad("%v is below %d", v, n)
		}
		if n, ok := schema["maximum"].(int); ok && v > float64(n) {
			bad("%v is above %d", v, n)
		}
	}
	return wrong
}

func (d document) checkObject(schema, v map[string]any, path string) []string {
	var wrong []string
	for _, name := range texts(schema["required"]) {
		if _, ok := v[name]; !ok {
			wrong = append(wrong, path+": lacks "+name)
		}
	}
	if n, ok := schema["minProperties"].(int); ok && len(v) < n {
		wrong = append(wrong, path+": has too few members")
	}
	properties := d.object(schema["properties"])
	for name, value := range v {
		if names := d.object(schema["propertyNames"]); names != nil {
			wrong = append(wrong, d.check(names, name, path+"{"+name+"}")...)
		}
		switch {
		case properties[name] != nil:
			wrong = append(wrong, d.check(d.object(properties[name]), value, path+"."+name)...)
		case schema["additionalProperties"] == false:
			wrong = append(wrong, path+": "+name+" is not documented")
		default:
			if more := d.object(schema["additionalProperties"]); more != nil {
				wrong = append(wrong, d.check(more, value, path+"."+name)...)
			}
		}
	}
	return wrong
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// texts returns a string or a list of strings as a list.
func texts(v any) []string {
	var found []string
	for _, x := range append(list(v), v) {
		if s, ok := x.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
