package router

import (
	"math"
	"sync"

	"github.com/signalbox/signalbox/systemone"
)

// planner is the working memory of one plan.
type planner struct {
	in    PlanInput
	prefs *systemone.Preferences // never nil while planning
	rules []narrow               // guardrails, then the account's, then the request's own

	// What there is to filter by, so that most endpoints are soon done with.
	groups   uint8 // of any rule
	training bool  // in any rule
	picky    bool  // the request asks for something of an endpoint

	alone                     bool // no fallbacks
	grouped                   bool // the models keep their order
	cutLatency, cutThroughput bool
	defaultSort               systemone.SortBy
	quants                    uint16
	capped                    bool
	caps                      [len(priceParts)]USD

	asked     []asked
	modes     []mode   // by place of the model
	seen      []bool   // by model of the catalog
	keys      []key    // of the candidates: of the shared endpoints, then of own credentials
	left      int      // endpoints that the filters left
	own       []own    // credentials for one model
	places    []uint64 // the candidates in order: see sort
	indexMask uint64   // the bits of a place that index keys
	weights   []float64
	lots      int // candidates in the draw

	// What the names last marked mean: the first entry that means all of a
	// provider, and the one that means a tag. Only marks of this generation
	// count, so nothing has to be cleared.
	generation    uint64
	providers     []mark
	tags          []mark
	name          []byte // a folded name
	requestRule   Rule
	noPreferences systemone.Preferences
	noStats       Stats
}

type mark struct {
	generation uint64
	entry      int32
}

// narrow is a rule with its groups as bits.
type narrow struct {
	*Rule
	groups uint8
}

// asked is one endpoint of the models asked for.
type asked struct {
	spec  int32 // in the catalog's specs
	place int32 // of its model
	entry int32 // the first entry of the request's order that means it
	why   verdict
}

const noEntry = math.MaxInt32

// planners lends planners; only their memory outlives a plan.
type planners struct{ pool sync.Pool }

func (l *planners) get() *planner {
	if p, ok := l.pool.Get().(*planner); ok {
		return p
	}
	return new(planner)
}

func (l *planners) put(p *planner) {
	p.in, p.prefs, p.requestRule, p.lots = PlanInput{}, nil, Rule{}, 0
	clear(p.rules)
	clear(p.seen)
	p.rules, p.asked, p.modes = p.rules[:0], p.asked[:0], p.modes[:0]
	p.keys, p.own, p.places, p.weights = p.keys[:0], p.own[:0], p.places[:0], p.weights[:0]
	l.pool.Put(p)
}

// start takes the input in.
func (p *planner) start(in PlanInput) {
	p.in, p.prefs = in, in.Preferences
	if p.prefs == nil {
		p.prefs = &p.noPreferences
	}
	p.alone = p.prefs.AllowFallbacks != nil && !*p.prefs.AllowFallbacks
	p.grouped = len(p.prefs.Order) > 0 || p.prefs.Sort.Partition != systemone.PartitionNone
	p.cutLatency = p.prefs.PreferredMaxLatency != systemone.Cutoffs{}
	p.cutThroughput = p.prefs.PreferredMinThroughput != systemone.Cutoffs{}
	p.startRules()
	p.quants = 0
	for _, word := range p.prefs.Quantizations {
		p.quants |= accepted(word)
	}
	c := &p.prefs.MaxPrice
	p.capped = *c != systemone.MaxPrice{}
	if p.capped {
		p.caps = [len(priceParts)]USD{capOf(c.Prompt), capOf(c.Completion), capOf(c.Request), capOf(c.Image), capOf(c.Audio)}
	}
	p.picky = p.prefs.EnforceDistillableText || p.prefs.Quantizations != nil || p.capped || p.prefs.RequireParameters ||
		p.alone && len(p.prefs.Order) > 0
	if n := len(in.Catalog.providers); len(p.providers) < n {
		p.providers = make([]mark, n)
	}
	if n := len(in.Catalog.endpoints); len(p.tags) < n {
		p.tags = make([]mark, n)
	}
	if n := len(in.Catalog.models); len(p.seen) < n {
		p.seen = make([]bool, n)
	}
}

// startRules collects all rules, the request's own preferences as the last.
func (p *planner) startRules() {
	p.defaultSort, p.groups, p.training = "", 0, false
	for i := range p.in.Policy {
		r := &p.in.Policy[i]
		if r.Sort != "" {
			p.defaultSort = r.Sort
		}
		if r.Source != SourceAccount {
			p.addRule(r)
		}
	}
	for i := range p.in.Policy {
		if r := &p.in.Policy[i]; r.Source == SourceAccount {
			p.addRule(r)
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
	p.addRule(&p.requestRule)
}

func (p *planner) addRule(r *Rule) {
	const all = 1<<len(vendorGroups) - 1
	n := narrow{Rule: r}
	if r.ZDR {
		n.groups = all
	}
	for _, name := range r.ZDRGroups {
		if g := groupNamed(name, noGroup); g != noGroup {
			n.groups |= 1 << g
		} else {
			n.groups = all
		}
	}
	p.groups |= n.groups
	p.training = p.training || r.NoPaidTraining || r.NoFreeTraining
	p.rules = append(p.rules, n)
}

// gather lists the endpoints of the models asked for, each model once.
func (p *planner) gather() {
	c := p.in.Catalog
	for place, ref := range p.in.Models {
		m := p.modeOf(ref)
		if !p.grouped && place > 0 {
			m = p.modes[0]
		}
		p.modes = append(p.modes, m)
		i, known := c.byModel[ref.Model]
		if !known || p.seen[i] {
			continue
		}
		p.seen[i] = true
		why := p.judgeModel(i)
		for j := c.served[i].from; j < c.served[i].to; j++ {
			p.asked = append(p.asked, asked{spec: j, place: int32(place), entry: noEntry, why: why})
		}
	}
}

// mark remembers what the names mean, until the next call.
func (p *planner) mark(names []string) {
	p.generation++
	for i, name := range names {
		p.name = appendFold(p.name[:0], name)
		t, known := p.in.Catalog.targets[string(p.name)]
		if !known {
			continue
		}
		at := &p.providers[t.provider]
		if t.tag != anyTag {
			at = &p.tags[t.tag]
		}
		if at.generation != p.generation {
			*at = mark{generation: p.generation, entry: int32(i)}
		}
	}
}

// marked returns the first entry of the names last marked that means the
// endpoint, or noEntry.
func (p *planner) marked(s *spec) int32 {
	entry := int32(noEntry)
	if m := p.providers[s.provider]; m.generation == p.generation {
		entry = m.entry
	}
	if m := p.tags[s.tag]; m.generation == p.generation {
		entry = min(entry, m.entry)
	}
	return entry
}

func (p *planner) modelsNamed(name string) []int32 {
	p.name = appendFold(p.name[:0], name)
	return p.in.Catalog.modelNames[string(p.name)]
}

func (p *planner) stats(endpoint int32) *Stats {
	if int(endpoint) < len(p.in.Stats) {
		return &p.in.Stats[endpoint]
	}
	return &p.noStats
}

func (p *planner) spec(a *asked) *spec { return &p.in.Catalog.specs[a.spec] }

func (p *planner) pinned(a *asked) bool {
	return int(a.place) < len(p.in.Pinned) && p.in.Pinned[a.place] == p.spec(a).endpoint.ID
}
