package router

import (
	"cmp"
	"math"
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

// key is what a candidate is ordered by, the first three members in turn. Keys
// are made by place of the model, then by slug, so that their index decides
// between equal ones.
type key struct {
	lead     uint64
	figure   uint64 // of the sort, best first
	price    amount
	spec     int32 // in the catalog's specs
	own      int32 // in the caller's credentials, or shared
	reason   Reason
	balanced bool // load balancing, and not pinned: takes part in a draw
}

// lead holds the strong keys, strongest first: the tier, the place of the
// model, two bits for whose credential pays, and the rank within these.
const (
	tierShift  = 62
	placeShift = 46
	maxPlace   = 1<<16 - 1
	payerShift = 44
)

// Whose credential pays, the first first.
const (
	payerOwn uint64 = iota << payerShift
	payerShared
	payerFallback
)

// The ranks within a model's endpoints of equal tier.
const (
	rankPinned        = 0
	rankSound         = 1
	rankOutage        = 2
	rankUnnamed       = 1 << 32 // with order: behind every entry, sound ones first
	rankUnnamedOutage = rankUnnamed + 1
)

func (p *planner) compare(a, b uint64) int {
	k, l := p.keyAt(a), p.keyAt(b)
	switch {
	case k.lead != l.lead:
		return cmp.Compare(k.lead, l.lead)
	case k.figure != l.figure:
		return cmp.Compare(k.figure, l.figure)
	case k.price.hi != l.price.hi:
		return cmp.Compare(k.price.hi, l.price.hi)
	case k.price.lo != l.price.lo:
		return cmp.Compare(k.price.lo, l.price.lo)
	}
	return cmp.Compare(a&p.indexMask, b&p.indexMask)
}

// sort orders what the filters left.
func (p *planner) sort() {
	keys := slices.Grow(p.keys, len(p.asked))[:len(p.asked)]
	n := 0
	for i := range p.asked {
		if p.asked[i].why.reason == keep {
			p.makeKey(&keys[n], &p.asked[i])
			n++
		}
	}
	p.keys, p.left = keys[:n], n
	if len(p.in.Credentials) > 0 {
		p.addOwn()
	}
	p.place()
}

// place puts the keys in order. Comparing whole keys is slow, so each is packed
// into one number first, see packing; only where these numbers cannot tell keys
// apart the keys are compared.
func (p *planner) place() {
	pack := packingOf(p.keys)
	p.indexMask = pack.indexMask
	p.places = slices.Grow(p.places, len(p.keys))[:len(p.keys)]
	for i := range p.keys {
		p.places[i] = pack.number(&p.keys[i], i)
	}
	slices.Sort(p.places)
	if pack.exact {
		return
	}
	for from := 0; from < len(p.places); {
		to := from + 1
		for to < len(p.places) && p.places[to]|p.indexMask == p.places[from]|p.indexMask {
			to++
		}
		if to > from+1 {
			slices.SortFunc(p.places[from:to], p.compare)
		}
		from = to
	}
}

func (p *planner) keyAt(place uint64) *key { return &p.keys[place&p.indexMask] }

// makeKey fills in every field of k, in place because there are many.
func (p *planner) makeKey(k *key, a *asked) {
	spec, m := p.spec(a), &p.modes[a.place]
	s := p.stats(spec.index)
	rank, reason := p.rank(a, m, s.Outage)
	rank |= payerShared
	if p.cutLatency || p.cutThroughput {
		rank |= uint64(p.tier(s)) << tierShift
	}
	if p.grouped {
		rank |= uint64(min(a.place, maxPlace)) << placeShift //nolint:gosec // never negative
	}
	k.lead = rank
	k.figure = 0
	if m.by != "" {
		k.figure = figure(m.by, s)
	}
	k.price = spec.pricing.amount(p.in.Shape.PromptTokens, p.in.Shape.CompletionTokens)
	k.spec, k.own = a.spec, shared
	k.reason = reason
	k.balanced = m.balanced() && reason != ReasonPinned
}

// rank is an endpoint's rank among those of its model and tier, and why.
func (p *planner) rank(a *asked, m *mode, outage bool) (uint64, Reason) {
	switch {
	case m.ordered && a.entry != noEntry:
		return uint64(a.entry), ReasonOrder //nolint:gosec // never negative
	case m.ordered && outage:
		return rankUnnamedOutage, ReasonOutage
	case m.ordered:
		return rankUnnamed, ReasonPrice
	case m.sticky && p.pinned(a):
		return rankPinned, ReasonPinned
	case m.by != "":
		return rankSound, ReasonSort
	case outage:
		return rankOutage, ReasonOutage
	}
	return rankSound, ReasonPrice
}

// tier compares an endpoint's statistics with the performance cutoffs: one
// known miss is a miss, else anything unknown is unknown.
func (p *planner) tier(s *Stats) Tier {
	tier := TierMeets
	if p.cutLatency {
		tier = tierOf(&p.prefs.PreferredMaxLatency, &s.Latency, func(v, cutoff float64) bool { return v <= cutoff })
	}
	if p.cutThroughput {
		tier = max(tier, tierOf(&p.prefs.PreferredMinThroughput, &s.Throughput, func(v, cutoff float64) bool { return v >= cutoff }))
	}
	return tier
}

func tierOf(c *systemone.Cutoffs, p *Percentiles, met func(v, cutoff float64) bool) Tier {
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
	var v float64
	var known bool
	switch by {
	case "", systemone.SortPrice:
		return 0
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

func (p *planner) strategy() string {
	if len(p.places) > 0 {
		switch first := p.keyAt(p.places[0]); {
		case first.balanced:
			return strategyBalance
		case first.reason == ReasonPinned:
			return strategySticky
		}
	}
	switch m := p.firstMode(); {
	case m.ordered:
		return strategyOrder
	case m.by != "":
		return sortStrategy(m.by)
	}
	return strategyBalance
}

// firstMode is the mode of the first candidate, or that of the first model
// asked for where there is none.
func (p *planner) firstMode() mode {
	switch {
	case len(p.modes) == 0:
		return mode{}
	case len(p.places) == 0:
		return p.modes[0]
	}
	first := p.keyAt(p.places[0]).spec
	i := slices.IndexFunc(p.asked, func(a asked) bool { return a.spec == first })
	return p.modes[p.asked[i].place]
}

// sortStrategy is a table because a concatenation would allocate.
func sortStrategy(by systemone.SortBy) string {
	switch by {
	case systemone.SortPrice:
		return "sort:price"
	case systemone.SortLatency:
		return "sort:latency"
	case systemone.SortThroughput:
		return "sort:throughput"
	case systemone.SortExacto:
		return "sort:exacto"
	}
	return "sort:" + string(by)
}
