package router

import (
	"math/bits"
	"slices"
)

// packing packs keys into single numbers that sort like the keys: of each of
// their words what it is above the least one, the stronger word above the
// weaker one. The index of the key fills the lowest bits, so that keys that are
// equal keep their order. Where there is no room for all bits the weakest are
// left out and exact is false.
type packing struct {
	lead, figure, hi, lo part
	indexBits            int
	width                int // bits of the largest number
	exact                bool
}

// part is what a word becomes in a number: what it is above the least, without
// the bits that are left out, and moved to its place.
type part struct {
	least, mask      uint64
	out, bits, shift int
}

// fewBits of a word that has more are not worth looking at it in every key. What
// is weaker than a word that was cut is left out as a whole.
const fewBits = 8

// wordBits is more than any shift here: telling so spares the processor the
// question.
const wordBits = 64

// packingOf is for the keys at these places.
func (p *planner) packingOf(places []uint64) packing {
	keys, mask := p.keys, p.indexMask
	first := &keys[places[0]&mask]
	leastLead, leastFigure, leastHi, leastLo := first.lead, first.figure, first.price.hi, first.price.lo
	lead, figure, hi, lo := leastLead, leastFigure, leastHi, leastLo // the most
	for _, place := range places {
		k := &keys[place&mask]
		leastLead, lead = min(leastLead, k.lead), max(lead, k.lead)
		leastFigure, figure = min(leastFigure, k.figure), max(figure, k.figure)
		leastLo, lo = min(leastLo, k.price.lo), max(lo, k.price.lo)
		if k.price.hi != hi || hi != leastHi { // nearly never
			leastHi, hi = min(leastHi, k.price.hi), max(hi, k.price.hi)
		}
	}
	pack := packing{indexBits: bits.Len64(p.indexMask), exact: true}
	pack.width = pack.indexBits
	pack.lead, pack.figure = pack.part(leastLead, lead), pack.part(leastFigure, figure)
	pack.hi, pack.lo = pack.part(leastHi, hi), pack.part(leastLo, lo)
	shift := pack.width
	for _, part := range []*part{&pack.lead, &pack.figure, &pack.hi, &pack.lo} {
		shift -= part.bits
		part.shift = shift
	}
	return pack
}

func (p *packing) part(least, most uint64) part {
	want := bits.Len64(most - least)
	have := min(want, wordBits-1-p.width)
	if !p.exact || have < min(want, fewBits) {
		have = 0
	}
	p.width += have
	p.exact = p.exact && have == want
	return part{least: least, mask: 1<<have - 1, out: want - have, bits: have}
}

// pack packs the keys at these places. Mostly they differ in two words: in their
// leads, and in the figures, which leave no room to the prices, or else in the
// prices.
func (p *planner) pack(places []uint64, pack *packing) []uint64 {
	numbers, keys, mask := p.numbers[:len(places)], p.keys, p.indexMask
	lead, figure, hi, lo := pack.lead, pack.figure, pack.hi, pack.lo
	if figure.bits == 0 {
		for i, place := range places {
			k := &keys[place&mask]
			numbers[i] = place&mask | lead.of(k.lead) | lo.of(k.price.lo)
		}
	} else {
		for i, place := range places {
			k := &keys[place&mask]
			numbers[i] = place&mask | lead.of(k.lead) | figure.of(k.figure)
		}
		if lo.bits > 0 {
			for i, place := range places {
				numbers[i] |= lo.of(keys[place&mask].price.lo)
			}
		}
	}
	if hi.bits > 0 { // nearly never
		for i, place := range places {
			numbers[i] |= hi.of(keys[place&mask].price.hi)
		}
	}
	return numbers
}

func (p *part) of(word uint64) uint64 {
	return (word - p.least) >> (p.out % wordBits) & p.mask << (p.shift % wordBits)
}

// place puts the keys in order.
func (p *planner) place() {
	n := len(p.keys)
	p.indexMask = 1<<bits.Len(uint(n)) - 1
	p.places, p.numbers = slices.Grow(p.places, n)[:n], slices.Grow(p.numbers[:0], n)[:n]
	for i := range p.places {
		p.places[i] = uint64(i)
	}
	p.order(p.places)
}

// order puts places in order by what stands there. Comparing whole keys is slow,
// so each is packed into one number first. Those that these numbers cannot tell
// apart are packed again by themselves, which leaves more room for what they
// differ in.
func (p *planner) order(places []uint64) {
	if len(places) < 2 {
		return
	}
	pack := p.packingOf(places)
	p.sorter.sort(places, p.pack(places, &pack), pack.width)
	if pack.exact {
		return
	}
	from := 0
	for to := 1; to <= len(places); to++ {
		if to < len(places) && places[to]|p.indexMask == places[from]|p.indexMask {
			continue
		}
		if to-from > 1 {
			p.order(places[from:to])
		}
		from = to
	}
}

func (p *planner) keyAt(place uint64) *key   { return &p.keys[place&p.indexMask] }
func (p *planner) markAt(place uint64) *mark { return &p.marks[place&p.indexMask] }
