package router

// Usable returns the endpoints of a catalog that rules leave, by their model's
// place in the catalog and by slug with variant. What the operator has switched
// off stays: that says nothing about what is allowed. It is a pure function and
// applies the filters of [NewPlan].
func Usable(c *Catalog, rules []Rule) []*Endpoint {
	models := make([]ModelRef, len(c.models))
	for i, m := range c.models {
		models[i].Model = m
	}
	p := c.planners.get()
	defer c.planners.put(p)
	p.start(PlanInput{Catalog: c, Models: models, Policy: rules})
	p.gather()
	p.filter()
	var usable []*Endpoint
	for i := range p.asked {
		if a := &p.asked[i]; a.why.reason == keep || a.why.reason == offline {
			usable = append(usable, p.spec(a).endpoint)
		}
	}
	return usable
}
