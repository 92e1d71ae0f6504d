package router

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/systemone"
)

// planner is the working memory of one plan.
type planner struct {
	in    PlanInput
	prefs *systemone.Preferences // never nil while planning
	rules []*Rule                // guardrails, then the account's, then the request's own

	alone                     bool // no fallbacks
	grouped                   bool // the models keep their order
	cutLatency, cutThroughput bool
	defaultSort               systemone.SortBy
	capped                    bool
	caps                      prices
	layout                    layout
	part                      uint64 // the part of the plan that the current model is in
	lasts                     bool   // the current model has a last resort
	prompt, completion        uint64 // tokens

	refused   traits           // by any rule
	refusedBy [traitBits]int32 // the first rule that refuses the trait
	careful   traits           // endpoints with one of these are judged; all others are kept
	lists     nameLists
	entries   []int32 // by target number: its first position in the request's order

	modes  []mode    // by place of the model
	seen   []bool    // by model of the catalog
	out    []refusal // by place of the model, then by slug
	keys   []key     // of the candidates: of the shared endpoints, then of own credentials
	marks  []mark    // of the same
	shared int       // how many keys are of shared endpoints
	own    []own     // credentials for one model

	places []int32 // the candidates in order, by their index in keys and marks

	weights       []float64
	share         float64 // the probability of a weight of 1
	lots          int     // candidates in the draw
	name          []byte  // a folded name
	requestRule   Rule
	noPreferences systemone.Preferences
	noStats       Stats
}

// refusal is an excluded endpoint.
type refusal struct {
	spec  int32 // in the catalog's specs
	place int32 // of its model
	why   verdict
}

// planners pools planners. A pooled planner keeps its memory but no data of its
// plan.
type planners struct{ pool sync.Pool }

func (l *planners) get() *planner {
	if p, ok := l.pool.Get().(*planner); ok {
		return p
	}
	return new(planner)
}

func (l *planners) put(p *planner) {
	p.in, p.prefs, p.requestRule = PlanInput{}, nil, Rule{}
	clear(p.rules)
	l.pool.Put(p)
}

// start takes the input and resets the planner.
func (p *planner) start(in PlanInput) {
	p.in, p.prefs = in, in.Preferences
	if p.prefs == nil {
		p.prefs = &p.noPreferences
	}
	p.alone = p.prefs.AllowFallbacks != nil && !*p.prefs.AllowFallbacks
	p.grouped = len(p.prefs.Order) > 0 || p.prefs.Sort.Partition != systemone.PartitionNone
	p.cutLatency = p.prefs.PreferredMaxLatency != systemone.Cutoffs{}
	p.cutThroughput = p.prefs.PreferredMinThroughput != systemone.Cutoffs{}
	p.layout = layoutOf(len(p.prefs.Order), len(in.Models))
	p.prompt, p.completion = count(in.Shape.PromptTokens), count(in.Shape.CompletionTokens)
	p.modes, p.out, p.keys, p.marks, p.own = p.modes[:0], p.out[:0], p.keys[:0], p.marks[:0], p.own[:0]
	p.places, p.weights, p.lots = p.places[:0], p.weights[:0], 0
	p.part, p.lasts = 0, false
	p.seen = slices.Grow(p.seen[:0], len(in.Catalog.models))[:len(in.Catalog.models)]
	clear(p.seen)
	p.startRules()
	p.startPreferences()
	p.startLists()
}

// startRules collects all rules, with the request's own preferences last.
func (p *planner) startRules() {
	p.rules, p.defaultSort = p.rules[:0], ""
	for i := range p.in.Policy {
		r := &p.in.Policy[i]
		if r.Sort != "" {
			p.defaultSort = r.Sort
		}
		if r.Source != SourceAccount {
			p.rules = append(p.rules, r)
		}
	}
	for i := range p.in.Policy {
		if r := &p.in.Policy[i]; r.Source == SourceAccount {
			p.rules = append(p.rules, r)
		}
	}
	deny := p.prefs.DataCollection == systemone.DataCollectionDeny
	p.requestRule = Rule{
		Source:           SourceRequest,
		AllowedProviders: p.prefs.Only,
		IgnoredProviders: p.prefs.Ignore,
		ZDR:              p.prefs.ZDR,
		NoPaidTraining:   deny,
		NoFreeTraining:   deny,
	}
	p.rules = append(p.rules, &p.requestRule)
	p.refused = 0
	for i, r := range p.rules {
		p.refuse(r.traits(), i)
	}
}

// refuse adds the traits that a rule refuses. The first rule to refuse a trait is
// the source of its exclusions.
func (p *planner) refuse(t traits, rule int) {
	for fresh := t &^ p.refused; fresh != 0; fresh &= fresh - 1 {
		p.refusedBy[bits.TrailingZeros32(uint32(fresh))] = int32(rule) //nolint:gosec // a short list
	}
	p.refused |= t
}

// startPreferences reads what the request requires of an endpoint.
func (p *planner) startPreferences() {
	request := len(p.rules) - 1
	if p.prefs.EnforceDistillableText {
		p.refuse(1<<undistillableBit, request)
	}
	if p.prefs.Quantizations != nil {
		p.refuse(allQuantizations&^acceptedTraits(p.prefs.Quantizations), request)
	}
	if p.prefs.RequireParameters {
		for _, parameter := range p.in.Shape.Parameters {
			if parameter == parameterUser && !p.in.NoUser {
				p.refuse(1<<takesNoUserBit, request)
			} else {
				p.refuse(everyEndpoint, request)
			}
		}
	}
	c := &p.prefs.MaxPrice
	p.capped = *c != systemone.MaxPrice{}
	if p.capped {
		p.caps = prices{capOf(c.Prompt), capOf(c.Completion), capOf(c.Request), capOf(c.Image), capOf(c.Audio)}
	}
}

// startLists looks up all provider names and decides which endpoints must be
// judged.
func (p *planner) startLists() {
	p.lists.reset(p.in.Catalog.nTargets)
	for i, r := range p.rules {
		if r.AllowedProviders != nil {
			p.addList(r.AllowedProviders, verdict{reason: FilterAllowedProviders, rule: int32(i)})
		}
	}
	for i, r := range p.rules {
		if len(r.IgnoredProviders) > 0 {
			p.addList(r.IgnoredProviders, verdict{reason: FilterIgnoredProviders, rule: int32(i)})
		}
	}
	ordered := len(p.prefs.Order) > 0
	if ordered {
		p.enter(p.prefs.Order)
	}
	p.careful = p.refused | 1<<limitedBit | 1<<offBit
	if p.capped || p.alone && ordered || len(p.lists.verdicts) > 0 {
		p.careful |= everyEndpoint
	}
}

// gather makes a key for every endpoint of the requested models that the filters
// keep, and a refusal for every other. A model that is named twice counts once, at
// the first place where the model lists allow it.
func (p *planner) gather() {
	c := p.in.Catalog
	for place, ref := range p.in.Models {
		p.modes = append(p.modes, p.modeOf(ref, place))
		i, known := c.byModel[ref.Model]
		if !known || p.seen[i] {
			continue
		}
		if why := p.judgeModel(i, c.indexOf(ref.Via)); why.reason != keep {
			if p.namedAgain(place) {
				continue
			}
			p.seen[i] = true
			for j := c.served[i].from; j < c.served[i].to; j++ {
				p.out = append(p.out, refusal{spec: j, place: int32(place), why: why})
			}
			continue
		}
		p.seen[i] = true
		p.addKeys(&p.modes[place], c.served[i])
		if p.lasts {
			p.part, p.lasts = p.part+1, false
		}
	}
	p.shared = len(p.keys)
}

// namedAgain reports whether a later place has the model of a place.
func (p *planner) namedAgain(place int) bool {
	return slices.ContainsFunc(p.in.Models[place+1:], func(ref ModelRef) bool { return ref.Model == p.in.Models[place].Model })
}

// place sorts the candidates. Of equal keys the one with the smaller index goes
// first, so the plan does not depend on the sort algorithm.
func (p *planner) place() {
	p.places = slices.Grow(p.places, len(p.keys))[:len(p.keys)]
	for i := range p.places {
		p.places[i] = int32(i)
	}
	keys := p.keys
	slices.SortFunc(p.places, func(a, b int32) int {
		k, l := &keys[a], &keys[b]
		switch {
		case k.lead != l.lead:
			return smallerFirst(k.lead, l.lead)
		case k.figure != l.figure:
			return smallerFirst(k.figure, l.figure)
		case k.price.hi != l.price.hi:
			return smallerFirst(k.price.hi, l.price.hi)
		case k.price.lo != l.price.lo:
			return smallerFirst(k.price.lo, l.price.lo)
		}
		return int(a - b)
	})
}

// smallerFirst is cmp.Compare for two words that differ.
func smallerFirst(a, b uint64) int {
	if a < b {
		return -1
	}
	return 1
}

func (p *planner) modelsNamed(name string) []int32 {
	p.name = appendFold(p.name[:0], name)
	return p.in.Catalog.modelNames[string(p.name)]
}

// target returns the target number of a provider's name.
func (p *planner) target(name string) (t int32, known bool) {
	if isFolded(name) {
		t, known = p.in.Catalog.targets[name]
		return t, known
	}
	p.name = appendFold(p.name[:0], name)
	t, known = p.in.Catalog.targets[string(p.name)]
	return t, known
}

func (p *planner) stats(endpoint int32) *Stats {
	if int(endpoint) < len(p.in.Stats) {
		return &p.in.Stats[endpoint]
	}
	return &p.noStats
}
