package router

// Usable returns the endpoints of a catalog that rules allow, by the index of the
// catalog's models and for each model by slug with variant. For a model made of
// stages they are the endpoints of its entries that the rules allow to it, in the
// order of the entries. Endpoints that the operator switched off are included,
// because rules allow them too. It is a pure function and applies the filters of
// [NewPlan].
func Usable(c *Catalog, rules []Rule) [][]*Endpoint {
	p := c.planners.get()
	defer c.planners.put(p)
	p.start(PlanInput{Catalog: c, Policy: rules})
	usable := make([][]*Endpoint, len(c.models))
	for i, m := range c.models {
		usable[i] = p.usable(usable[i], int32(i), nowhere)
		for _, entry := range m.entries() {
			usable[i] = p.usable(usable[i], c.indexOf(entry), int32(i))
		}
	}
	return usable
}

// usable appends the endpoints of a model that the rules allow.
func (p *planner) usable(list []*Endpoint, m, via int32) []*Endpoint {
	c := p.in.Catalog
	if p.judgeModel(m, via).reason != keep {
		return list
	}
	for j := c.served[m].from; j < c.served[m].to; j++ {
		if v := p.judge(&c.specs[j]); v.reason == keep || v.reason == FilterOffline {
			list = append(list, c.specs[j].endpoint)
		}
	}
	return list
}
