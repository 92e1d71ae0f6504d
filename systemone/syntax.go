package systemone

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// maxDepth is how deep arrays and objects may be nested in a body.
const maxDepth = 64

// CheckSyntax reports whether data is one JSON value as this package accepts it.
// That is RFC 8259 in valid UTF-8 without a byte order mark, with nothing but white
// space around the value. It excludes half of a surrogate pair (which no UTF-8 text
// can represent), two members of one name in an object, and more than 64 levels of
// nesting. The error is an [*InvalidError]: one issue for text that is not JSON,
// else one for every name that is used twice.
//
// There is no limit on the number of values, because nothing is built from them.
// The time is linear in the size of data, except for sorting the names of each
// object.
func CheckSyntax(data []byte) error {
	var p problems
	checkSyntax(data, 0, &p)
	return p.err()
}

// checkSyntax notes every problem of data, which is nested depth levels deep in the
// body. If data is not JSON, it notes only that problem and returns false.
func checkSyntax(data []byte, depth int, p *problems) bool {
	s := syntax{data: data, problems: p, base: depth}
	s.space()
	if !s.value(depth) {
		return false
	}
	s.space()
	if s.pos < len(data) {
		return s.fail("unexpected data after the value")
	}
	return true
}

// span is the position of a member's name, quotes included.
type span struct {
	lo, hi  int
	escaped bool // the name has a backslash
}

// within says which value of a container is being scanned.
type within struct {
	name  span // in an array hi is 0
	index int
}

// syntax scans one JSON text.
type syntax struct {
	data     []byte
	pos      int
	escaped  bool   // the string read last has a backslash
	names    []span // of all open objects
	place    [maxDepth]within
	base     int // the level that data stands at
	problems *problems
}

// fail notes the problem of a text that is not JSON.
func (s *syntax) fail(problem string) bool {
	s.problems.only("invalid JSON at byte " + strconv.Itoa(s.pos) + ": " + problem)
	return false
}

// unexpected notes that a value, name or mark is missing.
func (s *syntax) unexpected(want string) bool {
	if s.pos >= len(s.data) {
		return s.fail("unexpected end, expected " + want)
	}
	return s.fail("expected " + want)
}

func (s *syntax) space() { s.pos = jsontext.Space(s.data, s.pos) }

// take skips c if it is next.
func (s *syntax) take(c byte) bool {
	if s.pos < len(s.data) && s.data[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// value scans a value inside depth containers.
func (s *syntax) value(depth int) bool {
	if s.pos >= len(s.data) {
		return s.unexpected("a value")
	}
	switch s.data[s.pos] {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case '"':
		return s.text()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

func (s *syntax) object(depth int) bool {
	if depth >= maxDepth {
		return s.fail("nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	first := len(s.names)
	s.pos++
	s.space()
	for more := !s.take('}'); more; {
		name := span{lo: s.pos}
		if s.pos >= len(s.data) || s.data[s.pos] != '"' {
			return s.unexpected("a member name")
		}
		if !s.text() {
			return false
		}
		name.hi, name.escaped = s.pos, s.escaped
		if s.names == nil {
			s.names = make([]span, 0, 16)
		}
		s.names = append(s.names, name)
		s.place[depth] = within{name: name}
		s.space()
		if !s.take(':') {
			return s.unexpected("a colon")
		}
		s.space()
		if !s.value(depth + 1) {
			return false
		}
		s.space()
		if more = s.take(','); more {
			s.space()
		} else if !s.take('}') {
			return s.unexpected("a comma or a closing brace")
		}
	}
	s.duplicates(s.names[first:], depth)
	s.names = s.names[:first]
	return true
}

func (s *syntax) array(depth int) bool {
	if depth >= maxDepth {
		return s.fail("nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	s.pos++
	s.space()
	s.place[depth] = within{}
	for more := !s.take(']'); more; {
		if !s.value(depth + 1) {
			return false
		}
		s.place[depth].index++
		s.space()
		if more = s.take(','); more {
			s.space()
		} else if !s.take(']') {
			return s.unexpected("a comma or a closing bracket")
		}
	}
	return true
}

// text scans a string from its opening quote.
func (s *syntax) text() bool {
	s.escaped = false
	data, pos := s.data, s.pos+1
	for pos < len(data) {
		c := data[pos]
		switch {
		case c == '"':
			s.pos = pos + 1
			return true
		case c < ' ':
			s.pos = pos
			return s.fail("control character in a string")
		case c == '\\':
			s.escaped = true
			if s.pos = pos; !s.escape() {
				return false
			}
			pos = s.pos
		case c < utf8.RuneSelf:
			pos++
		default:
			r, size := utf8.DecodeRune(data[pos:])
			if r == utf8.RuneError && size == 1 {
				s.pos = pos
				return s.fail("invalid UTF-8")
			}
			pos += size
		}
	}
	s.pos = pos
	return s.unexpected("the end of a string")
}

// escape scans an escape sequence from its backslash, or both halves of a surrogate
// pair.
func (s *syntax) escape() bool {
	if s.pos+1 >= len(s.data) {
		s.pos = len(s.data)
		return s.unexpected("the end of a string")
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		_, size := jsontext.Unescape(s.data[s.pos:])
		if size == 0 {
			return s.fail("invalid escape or half of a surrogate pair")
		}
		s.pos += size
		return true
	default:
		return s.fail("invalid escape")
	}
}

func (s *syntax) word(word string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return true
}

func (s *syntax) number() bool {
	end := numberEnd(s.data, s.pos)
	if end == s.pos {
		return s.unexpected("a value")
	}
	s.pos = end
	return true
}

// numberEnd returns the end of the number that starts at pos; pos if there is none.
func numberEnd[T []byte | string](data T, pos int) int {
	digits := func(i int) int {
		for i < len(data) && '0' <= data[i] && data[i] <= '9' {
			i++
		}
		return i
	}
	i := pos
	if i < len(data) && data[i] == '-' {
		i++
	}
	whole := digits(i)
	switch {
	case whole == i:
		return pos
	case data[i] == '0':
		whole = i + 1
	}
	i = whole
	if i < len(data) && data[i] == '.' {
		end := digits(i + 1)
		if end == i+1 {
			return pos
		}
		i = end
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := digits(i)
		if end == i {
			return pos
		}
		i = end
	}
	return i
}
