package router

// plan writes down what was found.
func (p *planner) plan() Plan {
	plan := Plan{Seed: p.in.Seed, Strategy: p.strategy()}
	if p.alone && len(p.places) > 1 {
		p.places, p.left = p.places[:1], 1
		p.dropOthers(p.keyAt(p.places[0]).spec)
	}
	if len(p.places) > 0 {
		plan.Candidates = make([]Candidate, len(p.places))
	}
	for i := range plan.Candidates {
		k, c := p.keyAt(p.places[i]), &plan.Candidates[i]
		s := &p.in.Catalog.specs[k.spec]
		c.Endpoint, c.Model = s.endpoint, p.in.Catalog.models[s.model]
		c.Tier, c.Reason = Tier(k.lead>>tierShift), k.reason
		if k.own != shared {
			c.Credential = &p.in.Credentials[k.own]
		}
		if i < len(p.weights) {
			c.Weight = p.weights[i]
		}
	}
	if p.lots > 1 {
		plan.Candidates[0].Reason = ReasonDrawn
	}
	p.exclude(&plan)
	return plan
}

// dropOthers excludes what stood behind the only candidate.
func (p *planner) dropOthers(only int32) {
	for i := range p.asked {
		if a := &p.asked[i]; a.why.reason == keep && a.spec != only {
			a.why = p.byRequest(fallbacks)
		}
	}
}

func (p *planner) exclude(plan *Plan) {
	out := len(p.asked) - p.left
	if out == 0 {
		return
	}
	excluded := make([]Exclusion, out)
	plan.Excluded = excluded
	var found [filters]bool
	kinds, n := 0, 0
	for i := range p.asked {
		a := &p.asked[i]
		if a.why.reason == keep {
			continue
		}
		p.fillExclusion(&excluded[n], a)
		n++
		if r := a.why.reason; r < filters && !found[r] {
			found[r] = true
			kinds++
		}
	}
	if kinds == 0 {
		return
	}
	plan.ExcludedBy = make([]string, 0, kinds)
	for r, was := range found {
		if was {
			plan.ExcludedBy = append(plan.ExcludedBy, reasonWords[r])
		}
	}
}

func (p *planner) fillExclusion(e *Exclusion, a *asked) {
	e.Endpoint = p.spec(a).endpoint
	e.Reason = reasonWords[a.why.reason]
	if a.why.reason == maxPrice {
		e.Detail = priceParts[a.why.part]
	}
	if a.why.rule != noRule {
		e.Source = p.rules[a.why.rule].Source
	}
}
