package content

import (
	"slices"
	"unicode/utf8"
)

// span is a part of a text, in bytes.
type span struct{ start, end int }

// derived is a text that was derived from a source text, with the origin of each byte.
// Only copy and put append to it, so that every byte has an origin. The zero value is
// empty.
type derived struct {
	b     []byte
	trail []step
}

// step is the origin of a range of derived bytes, from out to the out of the next step.
// With size 0 they are copies of the source bytes from in on. Otherwise each of them is
// derived from all size bytes at in.
type step struct{ out, in, size uint32 }

// maxText is the maximum length of a text in bytes. Derived texts are at most maxLonger
// times as long, so every offset fits into a step.
const maxText = 256 << 20

func place(i int) uint32 {
	return uint32(i) //nolint:gosec // see maxText
}

// reset empties d, keeps its memory and reserves size bytes.
func (d *derived) reset(size int) {
	d.b, d.trail = slices.Grow(d.b[:0], size), d.trail[:0]
}

// copy appends a part of the source unchanged.
func (d *derived) copy(source []byte, from, to int) {
	if from >= to {
		return
	}
	out, in := place(len(d.b)), place(from)
	if n := len(d.trail); n == 0 || d.trail[n-1].size > 0 || in-d.trail[n-1].in != out-d.trail[n-1].out {
		d.trail = append(d.trail, step{out: out, in: in})
	}
	d.b = append(d.b, source[from:to]...)
}

// put appends b as the replacement of a part of the source that is not empty.
func (d *derived) put(b []byte, from, to int) {
	if len(b) == 0 {
		return
	}
	d.trail = append(d.trail, step{out: place(len(d.b)), in: place(from), size: place(to - from)})
	d.b = append(d.b, b...)
}

// extend extends the origin of the last character of d to the source index to.
func (d *derived) extend(to int) {
	if len(d.b) == 0 {
		return
	}
	last := &d.trail[len(d.trail)-1]
	if last.size == 0 {
		_, n := utf8.DecodeLastRune(d.b)
		out := place(len(d.b) - n)
		in := last.in + out - last.out
		if out > last.out {
			d.trail = append(d.trail, step{out: out, in: in})
			last = &d.trail[len(d.trail)-1]
		}
	}
	last.size = place(to) - last.in
}

// source returns the part of the source from which s is derived. s must not be empty and
// must lie inside d.
func (d *derived) source(s span) span {
	first, last := d.step(s.start), d.step(s.end-1)
	part := span{int(first.in), int(last.in + last.size)}
	if first.size == 0 {
		part.start += s.start - int(first.out)
	}
	if last.size == 0 {
		part.end += s.end - int(last.out)
	}
	return part
}

// step returns the step that covers a byte of d.
func (d *derived) step(at int) step {
	n, exact := slices.BinarySearchFunc(d.trail, at, func(s step, at int) int { return int(s.out) - at })
	if !exact {
		n--
	}
	return d.trail[n]
}
