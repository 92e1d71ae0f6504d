package router

import (
	"math"
	"math/bits"
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
	by      systemone.SortBy // otherwise the sort; "" for load balancing
	pinned  int32            // the endpoint that goes first, in the catalog's specs, or nowhere
	figure  figure           // of the sort
	plain   bool             // a standing depends only on whether the endpoint has an outage

	first, sound, outage standing
}

// modeOf returns the mode of a model. Models that are not kept apart have the sort
// of the first.
func (p *planner) modeOf(ref ModelRef, place int) mode {
	m := mode{pinned: nowhere}
	at := standing{lead: payerShared<<p.layout.payer | p.part<<p.layout.part, mark: mark{own: shared, place: int32(place)}} //nolint:gosec // a short list
	switch {
	case p.grouped:
		at.lead |= uint64(place) << p.layout.place //nolint:gosec // never negative
	case place > 0:
		ref.Sort = p.in.Models[0].Sort
	}
	named := uint64(len(p.prefs.Order))
	switch {
	case named > 0:
		m.ordered = true
		m.first, m.sound, m.outage = at.ranked(0, ReasonOrder), at.ranked(named, ReasonPrice), at.ranked(named+1, ReasonOutage)
		return m
	case p.prefs.Sort.By != "":
		m.by = p.prefs.Sort.By
	case ref.Sort != "":
		m.by = ref.Sort
	default:
		m.by = p.defaultSort
		if place < len(p.in.Pinned) {
			m.pinned = p.in.Catalog.specByID(p.in.Pinned[place])
		}
	}
	m.figure = figureOf(m.by)
	m.plain = m.figure == noFigure && m.pinned == nowhere && !p.cutLatency && !p.cutThroughput
	m.first, m.sound, m.outage = at.ranked(rankPinned, ReasonPinned), at.ranked(rankSound, ReasonPrice), at.ranked(rankOutage, ReasonOutage)
	if m.by != "" {
		m.sound.reason = ReasonSort
		m.outage = m.sound
	} else {
		m.sound.balanced, m.outage.balanced = true, true
	}
	return m
}

// standing is the initial lead and mark of a candidate. Its figure and its price
// are added for each endpoint.
type standing struct {
	lead uint64
	mark
}

func (s standing) ranked(rank uint64, why Reason) standing {
	s.lead |= rank << rankShift
	s.reason = why
	return s
}

// key is what candidates are ordered by: lead, figure and price in turn. Keys are
// made by place of the model, then by slug, so that the index decides between equal
// keys.
type key struct {
	lead   uint64
	figure uint64 // of the sort, best first
	price  amount
}

// mark is what a plan says of a candidate. It is stored apart from the key because
// sorting reads keys only.
type mark struct {
	spec     int32 // in the catalog's specs
	own      int32 // in the caller's credentials, or shared
	place    int32 // of the model
	tier     Tier
	reason   Reason
	balanced bool // load balancing, and not pinned: takes part in a draw
}

// layout holds the positions of the fields of a lead, the most significant one
// first:
//
//   - the part of the plan
//   - a bit for a last resort
//   - the tier
//   - the place of the model
//   - whose credential pays
//   - the rank within these
//   - a bit for an unknown figure
//
// Models with last resorts divide a plan into parts. Each part ends with the last
// resorts of one model, and holds that model and the models since the previous
// part.
type layout struct{ payer, place, tier, last, part int }

const (
	unknownFigure = 1
	rankShift     = 1
)

func layoutOf(order, models int) layout {
	payer := rankShift + bits.Len(uint(max(rankOutage, order+1)))
	place := payer + bits.Len(payerFallback)
	tier := place + bits.Len(uint(models))
	last := tier + bits.Len(uint(TierMisses))
	return layout{payer: payer, place: place, tier: tier, last: last, part: last + 1}
}

// Whose credential pays, in the order of candidates.
const (
	payerOwn = iota
	payerShared
	payerFallback
)

// The ranks of a request without an order. With one, positions in it are the ranks, and
// the endpoints that it does not name follow, those in an outage last.
const (
	rankPinned = iota
	rankSound
	rankOutage
)

// addKeys adds a key and a mark for every endpoint of a model that the filters
// keep, and a refusal for every other. The keys are written in place because there
// are many.
func (p *planner) addKeys(m *mode, served span) {
	specs, careful, plain := p.in.Catalog.specs, p.careful, m.plain
	prompt, completion := p.prompt, p.completion
	n := len(p.keys)
	end := n + int(served.to-served.from)
	keys, marks := slices.Grow(p.keys, end-n)[:end], slices.Grow(p.marks, end-n)[:end]
	for i := served.from; i < served.to; i++ {
		s := &specs[i]
		if s.traits&careful != 0 {
			if why := p.judge(s); why.reason != keep {
				p.out = append(p.out, refusal{spec: i, place: m.first.place, why: why})
				continue
			}
		}
		at, stats := &m.sound, p.stats(s.index)
		if stats.Outage {
			at = &m.outage
		}
		k, mark := &keys[n], &marks[n]
		n++
		*k = key{lead: at.lead, price: s.fee.plus(prompt, s.prompt).plus(completion, s.completion)}
		*mark = at.mark
		mark.spec = i
		if !plain {
			p.refine(k, mark, s, stats, m)
		}
		if s.traits&lastResort != 0 {
			k.lead |= 1 << p.layout.last
			p.lasts = true
		}
	}
	p.keys, p.marks = keys[:n], marks[:n]
}

// refine adds the tier, the pin and the figure of an endpoint to its standing.
func (p *planner) refine(k *key, mark *mark, s *spec, stats *Stats, m *mode) {
	if m.ordered {
		if entry := p.entry(s); entry != noEntry {
			k.lead = m.first.lead | uint64(entry)<<rankShift //nolint:gosec // never negative
			mark.reason = m.first.reason
		}
	} else if mark.spec == m.pinned {
		k.lead = m.first.lead
		mark.reason, mark.balanced = m.first.reason, false
	}
	if m.figure != noFigure {
		var known bool
		if k.figure, known = m.figure.of(stats); !known {
			k.lead |= unknownFigure
		}
	}
	if p.cutLatency || p.cutThroughput {
		mark.tier = p.tier(stats)
		k.lead |= uint64(mark.tier) << p.layout.tier
	}
}

// tier compares an endpoint's statistics with the performance cutoffs. One known
// miss is a miss; otherwise an unknown figure makes the tier unknown.
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

// figure is the statistic by which a sort orders.
type figure uint8

const (
	noFigure figure = iota // also for a sort by price, which has its own field in key
	latencyFigure
	throughputFigure
	passedFigure
)

func figureOf(by systemone.SortBy) figure {
	switch by {
	case systemone.SortLatency:
		return latencyFigure
	case systemone.SortThroughput:
		return throughputFigure
	case systemone.SortExacto:
		return passedFigure
	case systemone.SortPrice:
	}
	return noFigure
}

// of returns the figure as a number that is smaller for better endpoints, and
// whether it is known. An unknown figure is 0, because the lead already puts it
// behind all known ones.
func (f figure) of(s *Stats) (best uint64, known bool) {
	switch f {
	case latencyFigure:
		if v := s.Latency.P50; s.Latency.Known && !math.IsNaN(v) {
			return ascending(v), true
		}
	case throughputFigure:
		if v := s.Throughput.P50; s.Throughput.Known && !math.IsNaN(v) {
			return math.MaxInt64 - ascending(v), true
		}
	case passedFigure:
		if s.Checked > 0 {
			return math.MaxInt64 - ascending(wilson(s.Passed, s.Checked)), true
		}
	case noFigure:
		return 0, true
	}
	return 0, false
}

// ascending returns a number that grows with v, at most the largest int64. A
// negative v counts as zero.
func ascending(v float64) uint64 {
	if v <= 0 {
		return 0
	}
	return math.Float64bits(v) // floats from 0 up sort like their bits
}

// wilson returns the lower end of the 95 % Wilson score interval of a proportion
// (E. B. Wilson, 1927).
func wilson(passed, checked int64) float64 {
	const z = 1.96
	n := float64(checked)
	p := float64(passed) / n
	return (p + z*z/(2*n) - z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))) / (1 + z*z/n)
}

func (p *planner) strategy() string {
	if len(p.places) > 0 {
		switch first := &p.marks[p.places[0]]; {
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

// firstMode returns the mode of the first candidate's model or, without candidates,
// that of the first requested model.
func (p *planner) firstMode() mode {
	switch {
	case len(p.modes) == 0:
		return mode{}
	case len(p.places) == 0:
		return p.modes[0]
	}
	return p.modes[p.marks[p.places[0]].place]
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
