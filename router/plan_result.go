package router

import (
	"cmp"
	"slices"
)

// plan returns the finished plan.
func (p *planner) plan() Plan {
	plan := Plan{Seed: p.in.Seed, Strategy: p.strategy()}
	if p.alone && len(p.places) > 1 {
		p.places = p.places[:1]
		p.dropOthers(p.marks[p.places[0]].spec)
	}
	if len(p.places) > 0 {
		plan.Candidates = make([]Candidate, len(p.places))
	}
	p.fillCandidates(plan.Candidates)
	if p.in.Catalog.lasts {
		nameLasts(plan.Candidates)
	}
	if p.lots > 1 {
		plan.Candidates[0].Reason = ReasonDrawn
	}
	p.exclude(&plan)
	return plan
}

// fillCandidates fills in the candidates in their order. Values that the loop reads
// are local variables because there are many candidates.
func (p *planner) fillCandidates(candidates []Candidate) {
	specs, stats, keys, marks := p.in.Catalog.specs, p.in.Stats, p.keys, p.marks
	var unknown *Stats
	if len(stats) < len(specs) {
		unknown = new(Stats)
	}
	for i, place := range p.places {
		m, c := &marks[place], &candidates[i]
		s := &specs[m.spec]
		c.Endpoint, c.Tier, c.Reason, c.Price = s.endpoint, m.tier, m.reason, keys[place].price.round(false)
		if c.Stats = unknown; int(s.index) < len(stats) {
			c.Stats = &stats[s.index]
		}
		if m.own != shared {
			c.Credential = &p.in.Credentials[m.own]
		}
	}
	for i, w := range p.weights[:min(len(p.weights), len(candidates))] {
		candidates[i].Weight = w * p.share
	}
}

// nameLasts gives last resorts their reason.
func nameLasts(candidates []Candidate) {
	for i := range candidates {
		if c := &candidates[i]; c.Endpoint.LastResort {
			c.Reason = ReasonLastResort
		}
	}
}

// dropOthers excludes all candidates but the first.
func (p *planner) dropOthers(only int32) {
	for i := range p.marks[:p.shared] {
		if m := &p.marks[i]; m.spec != only {
			p.out = append(p.out, refusal{spec: m.spec, place: m.place, why: p.byRequest(FilterFallbacks)})
		}
	}
	slices.SortFunc(p.out, func(a, b refusal) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.spec, b.spec))
	})
}

func (p *planner) exclude(plan *Plan) {
	if len(p.out) == 0 {
		return
	}
	plan.Excluded = make([]Exclusion, len(p.out))
	endpoints := p.in.Catalog.inSpecs
	var found [FilterFallbacks]bool
	kinds := 0
	for i := range p.out {
		o, e := &p.out[i], &plan.Excluded[i]
		e.Endpoint, e.Reason, e.Detail = endpoints[o.spec], o.why.reason, o.why.detail
		if o.why.rule != noRule {
			e.Source = p.rules[o.why.rule].Source
		}
		if r := o.why.reason; r < FilterFallbacks && !found[r] {
			found[r] = true
			kinds++
		}
	}
	if kinds == 0 {
		return
	}
	plan.ExcludedBy = make([]Filter, 0, kinds)
	for r, was := range found {
		if was {
			plan.ExcludedBy = append(plan.ExcludedBy, Filter(r))
		}
	}
}
