package router

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

const (
	strategyOrder   = "order"
	strategySticky  = "sticky"
	strategyBalance = "load-balancing"
)

// mode is how the endpoints of one model are ordered.
type mode struct {
	ordered bool             // by the request's order
	by      systemone.SortBy // else by this, or "" for load balancing
	sticky  bool             // the pinned endpoint goes first
}

func (p *planner) modeOf(ref ModelRef) mode {
	switch {
	case len(p.prefs.Order) > 0:
		return mode{ordered: true}
	case p.prefs.Sort.By != "":
		return mode{by: p.prefs.Sort.By}
	case ref.Sort != "":
		return mode{by: ref.Sort}
	}
	return mode{by: p.defaultSort, sticky: true}
}

func (m mode) balanced() bool { return !m.ordered && m.by == "" }

// key is what a candidate is ordered by, the members in turn; no two are equal.
type key struct {
	lead   uint64
	figure uint64 // of the sort, best first
	price  amount
	asked  int32 // index into planner.asked: by place of the model, then by slug
}

// lead holds the strong keys, strongest first: the tier, the place of the
// model, two bits for whose credential pays (all candidates are shared ones so
// far), and the rank within these.
const (
	tierShift  = 62
	placeShift = 46
	maxPlace   = 1<<16 - 1
	rankMask   = 1<<44 - 1
)

// The ranks within a model's endpoints of equal tier.
const (
	rankPinned   = 0
	rankSound    = 1
	rankOutage   = 2
	rankUnnamed  = 1 << 32 // with order: behind every entry, sound ones first
	rankUnnamed2 = rankUnnamed + 1
)

func compareKeys(a, b key) int {
	switch {
	case a.lead != b.lead:
		return cmp.Compare(a.lead, b.lead)
	case a.figure != b.figure:
		return cmp.Compare(a.figure, b.figure)
	case a.price.hi != b.price.hi:
		return cmp.Compare(a.price.hi, b.price.hi)
	case a.price.lo != b.price.lo:
		return cmp.Compare(a.price.lo, b.price.lo)
	}
	return cmp.Compare(a.asked, b.asked)
}

// sort orders what the filters left.
func (p *planner) sort() {
	for i := range p.asked {
		if p.asked[i].why.reason == keep {
			p.keys = append(p.keys, p.keyOf(int32(i))) //nolint:gosec // bounded by the catalog
		}
	}
	slices.SortFunc(p.keys, compareKeys)
}

func (p *planner) keyOf(i int32) key {
	a := &p.asked[i]
	m := p.modes[a.place]
	s := p.stats(a.index)
	k := key{
		price: a.Pricing.amount(p.in.Shape.PromptTokens, p.in.Shape.CompletionTokens),
		asked: i,
	}
	k.lead = uint64(p.tier(s)) << tierShift
	if p.grouped {
		k.lead |= uint64(min(a.place, maxPlace)) << placeShift //nolint:gosec // never negative
	}
	k.lead |= p.rank(a, m, s.Outage)
	if !m.ordered {
		k.figure = figure(m.by, s)
	}
	return k
}

func (p *planner) rank(a *asked, m mode, outage bool) uint64 {
	switch {
	case m.ordered && a.entry != noEntry:
		return uint64(a.entry) //nolint:gosec // never negative
	case m.ordered && outage:
		return rankUnnamed2
	case m.ordered:
		return rankUnnamed
	case m.sticky && p.pinned(a):
		return rankPinned
	case m.by == "" && outage:
		return rankOutage
	}
	return rankSound
}

// tier compares an endpoint's statistics with the performance cutoffs: one
// known miss is a miss, else anything unknown is unknown.
func (p *planner) tier(s *Stats) Tier {
	latency := tierOf(&p.prefs.PreferredMaxLatency, &s.Latency, func(v, cutoff float64) bool { return v <= cutoff })
	throughput := tierOf(&p.prefs.PreferredMinThroughput, &s.Throughput, func(v, cutoff float64) bool { return v >= cutoff })
	return max(latency, throughput)
}

func tierOf(c *systemone.Cutoffs, p *Percentiles, met func(v, cutoff float64) bool) Tier {
	if *c == (systemone.Cutoffs{}) {
		return TierMeets
	}
	if !p.Known {
		return TierUnknown
	}
	values := [...]float64{p.P50, p.P75, p.P90, p.P99}
	for i, cutoff := range [...]*float64{c.P50, c.P75, c.P90, c.P99} {
		if cutoff != nil && !met(values[i], *cutoff) {
			return TierMisses
		}
	}
	return TierMeets
}

// figure turns the figure of a sort into a number that is smaller the better
// it is, and largest where it is unknown. Prices have a key of their own.
func figure(by systemone.SortBy, s *Stats) uint64 {
	const unknown = math.MaxUint64
	v, known := 0.0, false
	switch by {
	case systemone.SortLatency:
		v, known = s.Latency.P50, s.Latency.Known
	case systemone.SortThroughput:
		v, known = s.Throughput.P50, s.Throughput.Known
	case systemone.SortExacto:
		v, known = wilson(s.Passed, s.Checked), s.Checked > 0
	default:
		return 0
	}
	if !known || math.IsNaN(v) {
		return unknown
	}
	ascending := math.Float64bits(max(v, 0)) // floats from 0 up sort like their bits
	if by == systemone.SortLatency {
		return ascending
	}
	return math.MaxInt64 - ascending
}

// wilson is the lower end of the 95 % Wilson score interval of a proportion
// (E. B. Wilson, 1927).
func wilson(passed, checked int64) float64 {
	const z = 1.96
	n := float64(checked)
	p := float64(passed) / n
	return (p + z*z/(2*n) - z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

// draw puts one of the best candidates first, where load is balanced and no
// session is pinned: each with a weight of 1/price², or, where some are free,
// one of the free ones. What it passes over keeps its order.
func (p *planner) draw() {
	if len(p.keys) == 0 || !p.modes[p.asked[p.keys[0].asked].place].balanced() || p.keys[0].lead&rankMask == rankPinned {
		return
	}
	first := p.keys[0]
	sum := 0.0
	free := first.price == amount{}
	for _, k := range p.keys {
		if k.lead != first.lead || free && k.price != first.price {
			break
		}
		w := 1.0
		if !free {
			ratio := first.price.float() / k.price.float()
			w = float64(ratio * ratio) // rounded here, on every machine
		}
		p.weights = append(p.weights, w)
		sum += w
	}
	for i := range p.weights {
		p.weights[i] /= sum
	}
	p.raise(p.pick())
}

// pick returns the index of the weight that the seed draws.
func (p *planner) pick() int {
	var source rand.PCG
	source.Seed(p.in.Seed, 0)
	x := float64(source.Uint64()>>11) * 0x1p-53 // uniform in [0, 1)
	for i, w := range p.weights {
		if x -= w; x < 0 {
			return i
		}
	}
	return len(p.weights) - 1 // rounding left a crumb
}

// raise moves the candidate i of the draw to the front.
func (p *planner) raise(i int) {
	k, w := p.keys[i], p.weights[i]
	copy(p.keys[1:i+1], p.keys[:i])
	copy(p.weights[1:i+1], p.weights[:i])
	p.keys[0], p.weights[0] = k, w
}

func (p *planner) reasonOf(k key) Reason {
	m := p.modes[p.asked[k.asked].place]
	rank := k.lead & rankMask
	switch {
	case m.ordered && rank < rankUnnamed:
		return ReasonOrder
	case m.ordered && rank == rankUnnamed2, m.balanced() && rank == rankOutage:
		return ReasonOutage
	case m.sticky && rank == rankPinned:
		return ReasonPinned
	case !m.ordered && m.by != "":
		return ReasonSort
	}
	return ReasonPrice
}

func (p *planner) strategy() string {
	if len(p.modes) == 0 {
		return strategyBalance
	}
	m := p.modes[0]
	if len(p.keys) > 0 {
		m = p.modes[p.asked[p.keys[0].asked].place]
		if p.reasonOf(p.keys[0]) == ReasonPinned {
			return strategySticky
		}
	}
	switch {
	case m.ordered:
		return strategyOrder
	case m.by != "":
		return sortStrategy(m.by)
	}
	return strategyBalance
}
