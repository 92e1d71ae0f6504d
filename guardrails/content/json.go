package content

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
	"github.com/signalbox/signalbox/systemone"
)

// walk is the state of scanning one JSON value. It reads the bytes once and collects the
// edits.
type walk struct {
	in     []byte
	frames []frame
	names  []member // members of all open objects
	edits  []edit   // in the order of the text
}

// frame is an open array or object.
type frame struct {
	object  bool
	names   int  // index of its first name
	changed bool // an edit replaces one of its names
	key     span // name of the current member, as written
	card    answer
}

// answer caches whether a key says that its value is about cards.
type answer uint8

const (
	unknown answer = iota
	no
	yes
)

// member is the name of a member.
type member struct {
	span     // as written, without quotes
	edit int // index of the edit that replaces it; -1 for none
}

// edit replaces a part of a JSON text.
type edit struct {
	span

	with []byte
}

// field scans one JSON value and replaces it by a copy if something is redacted.
func (z *scan) field(value *json.RawMessage, place where) (changed bool, err error) {
	w := &z.walk
	z.around.of = span{}
	w.in, w.frames, w.names, w.edits = *value, w.frames[:0], w.names[:0], w.edits[:0]
	for i := 0; i < len(w.in); {
		switch c := w.in[i]; {
		case c == '"':
			i, err = z.quoted(i+1, place)
		case c == '-' || isDigit(c):
			i, err = z.number(i, place)
		case c == '{' || c == '[':
			w.frames = append(w.frames, frame{object: c == '{', names: len(w.names)})
			i++
		case c == '}' || c == ']':
			w.leave()
			i++
		default:
			i++
		}
		if err != nil {
			return false, err
		}
	}
	if len(w.edits) == 0 {
		return false, nil
	}
	out, copied := make([]byte, 0, len(w.in)+8*len(w.edits)), 0
	for _, e := range w.edits {
		out = append(append(out, w.in[copied:e.start]...), e.with...)
		copied = e.end
	}
	*value = append(out, w.in[copied:]...)
	return true, nil
}

// quoted scans the string whose content begins at i, a name or a value. It returns the
// index after the string.
func (z *scan) quoted(i int, place where) (next int, err error) {
	w := &z.walk
	end := jsontext.StringEnd(w.in, i)
	switch {
	case end < 0:
		return 0, unreadable("a string has no end")
	case end-i > maxText:
		return 0, unreadable("a string is longer than 256 MiB")
	}
	top := len(w.frames) - 1
	key := top >= 0 && w.frames[top].object && isKey(w.in, end+1)
	if key {
		w.frames[top].key, w.frames[top].card = span{}, unknown
		w.names = append(w.names, member{span{i, end}, -1})
	}
	escaped := bytes.IndexByte(w.in[i:end], '\\') >= 0
	replaced, err := z.string(w.in[i:end], escaped, place, key)
	if err != nil {
		return 0, err
	}
	if replaced != nil {
		if key {
			w.names[len(w.names)-1].edit = len(w.edits)
			w.frames[top].changed = true
		}
		w.edits = append(w.edits, edit{span{i, end}, replaced})
	}
	if key {
		w.frames[top].key = span{i, end}
	}
	return end + 1, nil
}

// isOneWord reports whether b is a short word of ASCII letters, in which no builtin finds
// anything.
func isOneWord(b []byte) bool {
	if len(b) >= minEncoded {
		return false
	}
	for _, c := range b {
		if !isLetter(c) {
			return false
		}
	}
	return true
}

func unreadable(message string) error {
	return &systemone.InvalidError{Issues: []systemone.Issue{{Message: message}}}
}

// string scans the content of a JSON string. It returns the replacement, or nil if
// nothing is redacted.
func (z *scan) string(raw []byte, escaped bool, place where, name bool) (replaced []byte, err error) {
	if err := z.meter.work(int64(len(raw))); err != nil {
		return nil, err
	}
	if !z.uses[kindPattern] && isOneWord(raw) {
		return nil, nil
	}
	z.around.name, z.around.number = name, false
	z.text.set(raw, escaped)
	if err := z.find(place); err != nil {
		return nil, err
	}
	return z.redact(place, true)
}

// minDigits is the length of the shortest number that a builtin finds without context: a
// social security number.
const minDigits = 9

// number scans a JSON number. A label replaces the whole number, as a string, if
// something in it is redacted.
func (z *scan) number(i int, place where) (next int, err error) {
	w := &z.walk
	end, digits := i, 0
	for ; end < len(w.in); end++ {
		c := w.in[end]
		if isDigit(c) {
			digits++
		} else if c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			break
		}
	}
	if digits < minDigits && !z.uses[kindPattern] {
		return end, nil
	}
	if err := z.meter.work(int64(end - i)); err != nil {
		return 0, err
	}
	z.around.name, z.around.number = false, true
	for _, form := range [...][]byte{w.in[i:end], integer(w.in[i:end])} {
		if form == nil {
			continue
		}
		z.text.set(form, false)
		if err := z.find(place); err != nil {
			return 0, err
		}
		if list := z.redactions(place); len(list) > 0 {
			with := jsontext.AppendString(nil, z.rules[list[0].rule].label)
			w.edits = append(w.edits, edit{span{i, end}, with})
			break
		}
	}
	return end, nil
}

// integer returns the digits of a JSON number with a fraction or an exponent that is an
// integer of at most twenty digits, without leading zeros (as in 0.41e2). Otherwise it
// returns nil.
func integer(b []byte) []byte {
	whole, exponent, scaled := bytes.Cut(bytes.ToLower(bytes.TrimPrefix(b, []byte("-"))), []byte("e"))
	whole, fraction, broken := bytes.Cut(whole, []byte("."))
	if !scaled && !broken {
		return nil
	}
	shift := 0
	if scaled {
		var err error
		if shift, err = strconv.Atoi(string(exponent)); err != nil {
			return nil
		}
	}
	digits := slices.Concat(whole, fraction)
	size := len(whole) + shift
	for len(digits) > 0 && digits[0] == '0' {
		digits, size = digits[1:], size-1
	}
	if size <= 0 || size > 20 {
		return nil
	}
	for len(digits) < size {
		digits = append(digits, '0')
	}
	if len(bytes.TrimRight(digits[size:], "0")) > 0 {
		return nil
	}
	return digits[:size]
}

// leave closes an array or an object and makes its replaced names unique.
func (w *walk) leave() {
	if len(w.frames) == 0 {
		return
	}
	f := w.frames[len(w.frames)-1]
	w.frames = w.frames[:len(w.frames)-1]
	names := w.names[f.names:]
	w.names = w.names[:f.names]
	if !f.changed {
		return
	}
	taken := make(unique, len(names))
	for _, n := range names {
		if n.edit < 0 {
			taken.keep(string(jsontext.Unescaped(w.in[n.start:n.end])))
		}
	}
	for _, n := range names {
		if n.edit >= 0 {
			with := &w.edits[n.edit].with
			*with = jsontext.AppendText(nil, taken.add(string(jsontext.Unescaped(*with))))
		}
	}
}

// isKey reports whether the string that ends before i is the name of a member: a colon
// follows it.
func isKey(b []byte, i int) bool { return at(b, jsontext.Space(b, i)) == ':' }
