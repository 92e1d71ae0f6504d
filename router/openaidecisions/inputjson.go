package openaidecisions

import (
	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/internal/upstream"
)

// The published limits of an input_json part.
const (
	maxJSONDepth  = 32
	maxJSONValues = 10_000
	maxJSONBytes  = 256 << 10 // of compact JSON
)

// fitsInputJSON reports whether input_json takes a value: an object or a non-empty
// array of objects, within its limits. Escapes are counted as written, so a text
// that compact JSON would shorten may be refused.
func fitsInputJSON(value []byte) bool {
	value = upstream.Trim(value)
	switch value[0] {
	case '{':
		return withinJSONLimits(value)
	case '[':
		filled := false
		for item := range upstream.Elements(value) {
			if item[0] != '{' {
				return false
			}
			filled = true
		}
		return filled && withinJSONLimits(value)
	default:
		return false
	}
}

func withinJSONLimits(value []byte) bool {
	depth, values, size := 0, 0, 0
	for i := 0; i < len(value); {
		from := i
		switch c := value[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case '{', '[':
			depth++
			values++
			i++
		case '}', ']':
			depth--
			i++
		case ',':
			i++
		case ':':
			values-- // the string before it was a name
			i++
		default:
			i = max(jsontext.Skip(value, i), i+1)
			values++
		}
		size += i - from
		if depth > maxJSONDepth || values > maxJSONValues || size > maxJSONBytes {
			return false
		}
	}
	return true
}
