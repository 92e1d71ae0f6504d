package jsontext

import "bytes"

// Space returns the index of the first byte at or after i that is no white space.
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

// Trim returns a value without the white space around it. Its capacity ends with it.
func Trim(value []byte) []byte {
	value = value[Space(value, 0):]
	end := len(value)
	for end > 0 && value[end-1] <= ' ' {
		end--
	}
	return value[:end:end]
}

// Skip returns the index after the value that begins at i, and i where none begins. A
// value without an end goes to the end of data.
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

// StringEnd returns the index of the quote that ends the string whose content begins at
// i, -1 if there is none: the first one that does not follow an odd number of
// backslashes. It looks at each byte twice at most.
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

// Walker steps through the members of an object or the elements of an array.
type Walker struct {
	Name  []byte // of the member, without escapes; nil in an array
	Value []byte // without white space around it; its capacity ends with it
	Index int    // of the member or element, -1 before the first

	data []byte
	pos  int
}

// Walk returns a walker that stands before the first value of a container, which has no
// white space before it.
func Walk(container []byte) Walker {
	return Walker{data: container, pos: 1, Index: -1}
}

// Next steps to the next value and returns false after the last.
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
