package router

import (
	"cmp"
	"slices"
)

// plan writes down what was found.
func (p *planner) plan() Plan {
	plan := Plan{Seed: p.in.Seed, Strategy: p.strategy()}
	if p.alone && len(p.places) > 1 {
		p.places = p.places[:1]
		p.dropOthers(p.keyAt(p.places[0]).spec)
	}
	if len(p.places) > 0 {
		plan.Candidates = make([]Candidate, len(p.places))
	}
	p.fillCandidates(plan.Candidates)
	if p.lots > 1 {
		plan.Candidates[0].Reason = ReasonDrawn
	}
	p.exclude(&plan)
	return plan
}

// fillCandidates writes down the candidates in their order. What the loop reads
// stands in variables because there are many.
func (p *planner) fillCandidates(candidates []Candidate) {
	specs, keys, mask, tier, weights := p.in.Catalog.specs, p.keys, p.indexMask, p.layout.tier%wordBits, p.weights
	for i, place := range p.places {
		k, c := &keys[place&mask], &candidates[i]
		s := &specs[k.spec]
		c.Endpoint = s.endpoint
		c.Tier, c.Reason = Tier(k.lead>>tier), k.reason //nolint:gosec // two bits
		if k.own != shared {
			c.Credential = &p.in.Credentials[k.own]
		}
		if i < len(weights) {
			c.Weight = weights[i] * p.share
		}
	}
}

// dropOthers excludes what stood behind the only candidate.
func (p *planner) dropOthers(only int32) {
	for _, k := range p.keys[:p.shared] {
		if k.spec != only {
			p.out = append(p.out, refusal{spec: k.spec, place: k.place, why: p.byRequest(FilterFallbacks)})
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
	var found [FilterFallbacks]bool
	kinds := 0
	for i := range p.out {
		o, e := &p.out[i], &plan.Excluded[i]
		e.Endpoint, e.Reason, e.Detail = p.in.Catalog.specs[o.spec].endpoint, o.why.reason, o.why.detail
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
			plan.ExcludedBy = append(plan.ExcludedBy, Filter(r)) //nolint:gosec // a short list
		}
	}
}
