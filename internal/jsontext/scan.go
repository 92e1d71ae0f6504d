package jsontext

import "bytes"

// Space returns the index of the first byte at or after i that is not white space, or
// len(data).
func Space(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
			i++
		default:
			return i
		}
	}
	return i
}

// Trim returns a value without the white space around it. Appending to the result does
// not overwrite the input.
func Trim(value []byte) []byte {
	value = value[Space(value, 0):]
	end := len(value)
	for end > 0 && value[end-1] <= ' ' {
		end--
	}
	return value[:end:end]
}

// Skip returns the index after the value that begins at i, or i if no value begins there.
// A value that is cut off ends at len(data).
func Skip(data []byte, i int) int {
	if i >= len(data) {
		return i
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipContainer(data, i)
	}
	for i < len(data) {
		switch data[i] {
		case ',', ':', '}', ']', ' ', '\t', '\r', '\n':
			return i
		}
		i++
	}
	return i
}

func skipString(data []byte, i int) int {
	if end := StringEnd(data, i+1); end >= 0 {
		return end + 1
	}
	return len(data)
}

func skipContainer(data []byte, i int) int {
	for depth := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = skipString(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// StringEnd returns the index of the closing quote of the string whose content begins at
// i, or -1 if there is none. The closing quote is the first one after an even number of
// backslashes. The time is linear in the length of the string.
func StringEnd(data []byte, i int) int {
	for start := i; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for i-slashes > start && data[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// Walker iterates over the members of an object or the elements of an array. [Walk] makes
// one; the zero value is not usable.
type Walker struct {
	Name  []byte // name of the member, unescaped; nil in an array
	Value []byte // without white space around it; appending to it does not overwrite the input
	Index int    // index of the member or element; -1 before the first Next

	data []byte
	pos  int
}

// Walk returns a walker before the first value of an object or array. The first byte of
// container must be its bracket.
func Walk(container []byte) Walker {
	return Walker{data: container, pos: 1, Index: -1}
}

// Next advances to the next value. It returns false after the last one, and at text that
// is not JSON.
func (w *Walker) Next() bool {
	data, pos := w.data, Space(w.data, w.pos)
	if pos < len(data) && data[pos] == ',' {
		pos = Space(data, pos+1)
	}
	if pos < len(data) && data[0] == '{' {
		end := Skip(data, pos)
		if data[pos] != '"' || end-pos < len(`""`) {
			return false
		}
		w.Name = Unquote(data[pos:end])
		if pos = Space(data, end); pos >= len(data) || data[pos] != ':' {
			return false
		}
		pos = Space(data, pos+1)
	}
	end := Skip(data, pos)
	if end == pos {
		return false
	}
	w.pos, w.Value = end, data[pos:end:end]
	w.Index++
	return true
}
