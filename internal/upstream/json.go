package upstream

import (
	"iter"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// The functions below read JSON without building values; package jsontext documents what
// they require.

// Trim removes the white space around a value. It returns "null" for an empty text,
// so that a first byte always exists.
func Trim(value []byte) []byte {
	if value = jsontext.Trim(value); len(value) > 0 {
		return value
	}
	return []byte("null")
}

// Members iterates over an object: names without escapes, and values. Anything but
// an object has no members.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		object = Trim(object)
		if object[0] != '{' {
			return
		}
		for w := jsontext.Walk(object); w.Next(); {
			if !yield(w.Name, w.Value) {
				return
			}
		}
	}
}

// Elements iterates over an array. Anything but an array has no elements.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		array = Trim(array)
		if array[0] != '[' {
			return
		}
		for w := jsontext.Walk(array); w.Next(); {
			if !yield(w.Value) {
				return
			}
		}
	}
}

// Member returns the value of a member, or nil where it is absent or null.
func Member(object []byte, name string) []byte {
	for n, value := range Members(object) {
		if string(n) == name {
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

// String returns the text of a string value, or "" for anything else.
func String(value []byte) string {
	s, _ := jsontext.Text(value)
	return s
}

// Number returns the value of a number, and whether value is one.
func Number(value []byte) (float64, bool) {
	if len(value) == 0 || len(value) > 64 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(value), 64)
	return n, err == nil
}
