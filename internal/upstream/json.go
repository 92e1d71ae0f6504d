package upstream

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
)

// The functions below take JSON apart without building anything. They rely on
// data that systemone.CheckSyntax has accepted; of anything else they make
// nonsense, but no panic and no endless loop.

// Trim cuts the white space around a value; "null" stands for nothing at all,
// so that the first byte can be looked at.
func Trim(value []byte) []byte {
	value = bytes.Trim(value, " \t\r\n")
	if len(value) == 0 {
		return []byte("null")
	}
	return value
}

// Members walks an object: names with their quotes as they were written, and
// values. Anything but an object has no members.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		object = Trim(object)
		if object[0] != '{' {
			return
		}
		for i := 1; i < len(object); i++ {
			i = space(object, i)
			from := i
			i = Skip(object, i)
			name := object[from:i]
			i = space(object, i)
			if len(name) == 0 || i >= len(object) || object[i] != ':' {
				return
			}
			i = space(object, i+1)
			from = i
			i = Skip(object, i)
			if from == i || !yield(name, object[from:i]) {
				return
			}
			i = space(object, i)
		}
	}
}

// Elements walks an array. Anything but an array has no elements.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		array = Trim(array)
		if array[0] != '[' {
			return
		}
		for i := 1; i < len(array); i++ {
			i = space(array, i)
			from := i
			i = Skip(array, i)
			if from == i || !yield(array[from:i]) {
				return
			}
			i = space(array, i)
		}
	}
}

// Member returns the value of a member whose name needs no escapes, nil where
// there is none or it is null.
func Member(object []byte, name string) []byte {
	for n, value := range Members(object) {
		if len(n) == len(name)+2 && string(n[1:len(n)-1]) == name {
			return notNull(value)
		}
	}
	return nil
}

func notNull(value []byte) []byte {
	if string(value) == "null" {
		return nil
	}
	return value
}

// String returns the text of a string value, "" of anything else.
func String(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// Number returns the number that a value is.
func Number(value []byte) (float64, bool) {
	if len(value) == 0 || len(value) > 64 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	return n, err == nil
}

// space returns the index of the first byte at or after i that is no space.
func space(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// Skip returns the index behind the value that begins at i, or i where none
// does.
func Skip(data []byte, i int) int {
	if i >= len(data) {
		return i
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	for i < len(data) && bytes.IndexByte([]byte(",:]} \t\r\n"), data[i]) < 0 {
		i++
	}
	return i
}

// skipString finds the first quote that does not follow an odd number of
// backslashes. Each byte is looked at twice at most.
func skipString(data []byte, i int) int {
	for from := i + 1; from < len(data); {
		next := bytes.IndexByte(data[from:], '"')
		if next < 0 {
			break
		}
		quote := from + next
		escapes := 0
		for quote-escapes > i+1 && data[quote-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return quote + 1
		}
		from = quote + 1
	}
	return len(data)
}

func skipNested(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipString(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(data)
}
