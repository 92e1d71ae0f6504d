package router

import "math/bits"

// packing packs keys into single numbers that sort like the keys: for each of
// their words only the bits in which any two keys differ are kept, from the
// highest to the lowest of them, the stronger word above the weaker one. The
// index of the key fills the lowest bits, so that keys that are equal keep
// their order. Where there is no room for all bits the weakest are left out and
// exact is false.
type packing struct {
	lead, figure, hi, lo window
	indexBits            uint8
	indexMask            uint64
	exact                bool
}

// window is the part of a word that is kept.
type window struct {
	shift, width uint8
	mask         uint64
}

func packingOf(keys []key) packing {
	p := packing{exact: true}
	if len(keys) == 0 {
		return p
	}
	var lead, figure, hi, lo uint64
	first := &keys[0]
	for i := range keys {
		k := &keys[i]
		lead |= k.lead ^ first.lead
		figure |= k.figure ^ first.figure
		hi |= k.price.hi ^ first.price.hi
		lo |= k.price.lo ^ first.price.lo
	}
	p.indexBits = uint8(bits.Len(uint(len(keys) - 1))) //nolint:gosec // at most 64
	p.indexMask = 1<<p.indexBits - 1
	room := 64 - int(p.indexBits)
	p.lead = p.windowOf(lead, &room)
	p.figure = p.windowOf(figure, &room)
	p.hi = p.windowOf(hi, &room)
	p.lo = p.windowOf(lo, &room)
	return p
}

func (p *packing) windowOf(differ uint64, room *int) window {
	if differ == 0 {
		return window{}
	}
	shift := bits.TrailingZeros64(differ)
	width := bits.Len64(differ) - shift
	if left := width - *room; left > 0 {
		p.exact = false
		shift += left
		width -= left
	}
	*room -= width
	return window{shift: uint8(shift), width: uint8(width), mask: 1<<width - 1} //nolint:gosec // at most 64
}

func (p *packing) number(k *key, index int) uint64 {
	n := p.lead.add(0, k.lead)
	n = p.figure.add(n, k.figure)
	n = p.hi.add(n, k.price.hi)
	n = p.lo.add(n, k.price.lo)
	return n<<(p.indexBits%wordBits) | uint64(index) //nolint:gosec // never negative
}

// wordBits is more than any shift here: telling so spares the processor the
// question.
const wordBits = 64

// add puts the part of a word that is kept below what n holds already.
func (w window) add(n, word uint64) uint64 {
	return n<<(w.width%wordBits) | word>>(w.shift%wordBits)&w.mask
}
