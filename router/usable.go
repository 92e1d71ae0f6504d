package router

// Usable returns the endpoints of a catalog that rules allow, by their model's
// place in the catalog and by slug with variant. Endpoints that the operator
// switched off are included, because rules allow them too. It is a pure function
// and applies the filters of [NewPlan].
func Usable(c *Catalog, rules []Rule) []*Endpoint {
	p := c.planners.get()
	defer c.planners.put(p)
	p.start(PlanInput{Catalog: c, Policy: rules})
	var usable []*Endpoint
	for i, served := range c.served {
		model := p.judgeModel(int32(i))
		for j := served.from; j < served.to; j++ {
			s, v := &c.specs[j], model
			if v.reason == keep {
				v = p.judge(s)
			}
			if v.reason == keep || v.reason == FilterOffline {
				usable = append(usable, s.endpoint)
			}
		}
	}
	return usable
}
