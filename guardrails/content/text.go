package content

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// text is one string, number or name of a request, in all forms that a scan needs. A scan
// uses one text for all of them in turn, so that its buffers are allocated once.
type text struct {
	raw     []byte // as sent; a JSON string without its quotes
	decoded []byte // raw without JSON escapes
	escaped bool   // decoded is escapes.b, not raw itself
	escapes derived
	forms   []form // forms of decoded, at least one
	spare   []*derived
	used    int // number of spare in use
	// meter interrupts long work. The forms of a text are incomplete then.
	meter *meter
}

// form is a text as a reader may see it.
type form struct {
	b    []byte
	from []*derived // the derivations from decoded to b, in order
	// orders marks the form in which lookalike letters are replaced. Only prompt
	// injection is searched in it.
	orders bool
	// covered marks the form from which the orders form is derived. The orders form
	// contains every order that this one contains, so this one is not searched for them.
	covered bool
}

// set sets t to a text. escaped means that the text is the content of a JSON string with
// escapes.
func (t *text) set(raw []byte, escaped bool) {
	t.raw, t.decoded, t.escaped = raw, raw, escaped
	t.used = 0
	if escaped {
		t.unescape()
		t.decoded = t.escapes.b
	}
	t.forms = t.forms[:0]
	if isPlain(t.decoded) {
		t.forms = append(t.forms, form{b: t.decoded})
		return
	}
	t.derive()
}

// derive adds the forms of a text that is not plain.
func (t *text) derive() {
	open := form{b: t.decoded}
	folded := open
	if !isPrintable(t.decoded) {
		folded = t.fold(open, dropTags)
	}
	t.forms = append(t.forms, folded)
	for range maxUnhide {
		d := t.take()
		if !d.unhide(open.b, t.meter) {
			t.used--
			break
		}
		open = open.then(d)
	}
	if len(open.from) > 0 {
		t.forms = append(t.forms, t.fold(open, dropTags))
	}
	if hasTags(t.decoded) {
		t.forms = append(t.forms, t.fold(open, showTags))
	}
	last := &t.forms[len(t.forms)-1]
	if d := t.take(); d.lookalikes(last.b, t.meter) {
		last.covered = true
		orders := last.then(d)
		orders.orders = true
		t.forms = append(t.forms, orders)
	}
}

// fold derives the folded form of a text.
func (t *text) fold(f form, how folding) form {
	d := t.take()
	d.fold(f.b, how, t.meter)
	return f.then(d)
}

func (f form) then(d *derived) form {
	return form{b: d.b, from: append(slices.Clip(f.from), d)}
}

// take returns an unused derived text.
func (t *text) take() *derived {
	if t.used == len(t.spare) {
		t.spare = append(t.spare, new(derived))
	}
	t.used++
	return t.spare[t.used-1]
}

// inDecoded maps a part of a form to the decoded text, widened to whole characters.
func (t *text) inDecoded(f *form, s span) span {
	for _, d := range slices.Backward(f.from) {
		s = d.source(s)
	}
	return snap(t.decoded, s)
}

// inRaw maps a part of the decoded text to the raw text.
func (t *text) inRaw(s span) span {
	if t.escaped {
		return t.escapes.source(s)
	}
	return s
}

// unescape decodes the JSON escapes of raw. The result is never longer than raw. A broken
// escape, which the interface refuses, stays as it is.
func (t *text) unescape() {
	d, in := &t.escapes, t.raw
	d.reset(len(in))
	var buffer [utf8.UTFMax]byte
	for i := 0; i < len(in); {
		if in[i] != '\\' {
			n := bytes.IndexByte(in[i:], '\\')
			if n < 0 {
				n = len(in) - i
			}
			d.copy(in, i, i+n)
			i += n
			continue
		}
		r, size := jsontext.Unescape(in[i:])
		if size == 0 {
			r, size = '\\', 1
		}
		d.put(utf8.AppendRune(buffer[:0], r), i, i+size)
		i += size
	}
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
