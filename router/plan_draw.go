package router

import (
	"math/rand/v2"
	"slices"
)

// draw puts one of the best candidates first, where load is balanced and no session
// is pinned. The weight of each is 1/price². Where some are free, one of these is
// drawn with equal weights. Of several credentials for one endpoint only the oldest
// takes part. The other candidates keep their order.
func (p *planner) draw() {
	if len(p.places) == 0 {
		return
	}
	if !p.marks[p.places[0]].balanced {
		return
	}
	first := &p.keys[p.places[0]]
	least, sum := first.price.float(), 0.0
	weights := slices.Grow(p.weights, len(p.places))
	for _, place := range p.places {
		k := &p.keys[place]
		if k.lead != first.lead || least == 0 && k.price != first.price {
			break
		}
		w := 0.0
		if p.marks[place].balanced { // false for a younger credential
			w = 1
			if least > 0 {
				ratio := least / k.price.float()
				w = float64(ratio * ratio) // the conversion rules out a fused multiply-add, for equal results on every machine
			}
			p.lots++
		}
		weights = append(weights, w)
		sum += w
	}
	p.weights = weights
	p.share = 1 / sum
	p.raise(p.pick())
}

// pick returns the index of the drawn weight.
func (p *planner) pick() int {
	var source rand.PCG
	source.Seed(p.in.Seed, 0)
	x := float64(source.Uint64()>>11) * 0x1p-53 // uniform in [0, 1)
	last := 0
	for i, w := range p.weights {
		if x -= float64(w * p.share); x < 0 {
			return i
		}
		if w > 0 {
			last = i
		}
	}
	return last // rounding left a remainder of x
}

// raise moves candidate i to the front.
func (p *planner) raise(i int) {
	place, w := p.places[i], p.weights[i]
	copy(p.places[1:i+1], p.places[:i])
	copy(p.weights[1:i+1], p.weights[:i])
	p.places[0], p.weights[0] = place, w
}
