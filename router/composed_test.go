package router_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

const modelTriage = "acme/triage"

// cascade is the stages judge, then judge-mini where the team is not clear.
func cascade() []systemone.Entry {
	return []systemone.Entry{{Model: modelM}, {Model: "judge-mini-latest", When: unsure()}}
}

func triage(stages []systemone.Entry) router.Model {
	return router.Model{ID: modelTriage, Permaslug: "acme/triage-20261122", Aliases: []string{"triage-latest"}, Stages: stages}
}

// compose adds models to the catalog of a rig.
func (g *rig) compose(more ...router.Model) {
	g.t.Helper()
	was := g.router.Catalog()
	var providers []router.ProviderInfo
	for _, p := range was.Providers() {
		providers = append(providers, *p)
	}
	var endpoints []router.Endpoint
	for _, e := range was.Endpoints() {
		endpoints = append(endpoints, *e)
	}
	c, err := router.NewCatalog(append(models(), more...), providers, endpoints)
	require.NoError(g.t, err)
	g.router.SetCatalog(c)
}

// newComposedRig asks judge at ant, judge-mini at bee, and a model made of them.
func newComposedRig(t *testing.T, change func(*router.Config), m router.Model) *rig {
	t.Helper()
	g := newRig(t, "ant bee:N", change)
	g.compose(m)
	return g
}

// triaged is a call for a list of models, the first of which is model.
func triaged(model string, behind ...systemone.Entry) *router.Call {
	q := decision(byPrice)
	q.Model, q.Models = model, behind
	return &router.Call{Request: q, Principal: who()}
}

// TestAModelMadeOfStagesIsAskedByItsName: a request that only names it is a cascade.
func TestAModelMadeOfStagesIsAskedByItsName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{modelTriage, "triage", "ACME/Triage-20261122", "~acme/triage-latest"} {
		g := newComposedRig(t, nil, triage(cascade()))
		c := triaged(name)
		res, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err, name)
		assert.Equal(t, [][]string{{"refund", "team", "urgency"}, {"team"}}, sheets(c))
		assert.Equal(t, router.LegEscalated, c.Report.Legs[1].Reason)
		assert.Equal(t, name, c.Report.Requested)
		assert.Equal(t, "acme/judge-20260901", res.Response.Model, "who answered, not what was named")
		refs, err := g.router.Catalog().Resolve(name)
		require.NoError(t, err)
		assert.Equal(t, []string{modelM, modelN}, []string{refs[0].Model.ID, refs[1].Model.ID})
		assert.Equal(t, modelTriage, refs[0].Via.ID)
	}
}

// outline describes the legs of a dry run: the group, what is asked, and of whom.
func outline(c *router.Call) (list []string) {
	for _, l := range c.Report.Legs {
		words := []string{string(l.Reason)}
		for _, candidate := range l.Plan.Candidates {
			words = append(words, candidate.Endpoint.Tag()+":"+candidate.Endpoint.Model)
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// TestNamingItEqualsItsEntriesInItsPlace: wherever a model made of stages stands
// among other entries, the legs are those of its entries written there, also for the
// texts behind it.
func TestNamingItEqualsItsEntriesInItsPlace(t *testing.T) {
	g := newRig(t, "ant bee:N cat dog:N", nil)
	rapid.Check(t, func(rt *rapid.T) {
		entry := func(label string, first bool) systemone.Entry {
			e := systemone.Entry{Model: rapid.SampledFrom([]string{modelM, "judge-mini"}).Draw(rt, label)}
			if !first && rapid.Bool().Draw(rt, label+" begins") {
				e.When, e.Required = unsure(), rapid.Bool().Draw(rt, label+" required")
				e.Scope = rapid.SampledFrom([]systemone.Scope{"", systemone.ScopeAll}).Draw(rt, label+" scope")
			}
			e.ShopRefusals = rapid.Bool().Draw(rt, label+" shops")
			return e
		}
		list := func(label string, least int, first bool) []systemone.Entry {
			out := make([]systemone.Entry, rapid.IntRange(least, 3).Draw(rt, label))
			for i := range out {
				out[i] = entry(label, first && i == 0)
			}
			return out
		}
		stages, before, behind := list("stages", 1, true), list("before", 0, false), list("behind", 0, false)
		g.compose(triage(stages))
		named := slices.Concat(before, systemone.Texts(modelTriage), behind)
		written := slices.Concat(before, stages, behind)
		var got [2][]string
		for i, models := range [][]systemone.Entry{named, written} {
			c := triaged("", models...)
			c.DryRun = true
			_, err := g.router.Decide(t.Context(), c)
			require.NoError(rt, err)
			got[i] = outline(c)
		}
		assert.Equal(rt, got[1], got[0])
	})
}

// TestASecondMentionAddsNothing bounds how many groups a request can make.
func TestASecondMentionAddsNothing(t *testing.T) {
	t.Parallel()
	g := newComposedRig(t, nil, triage(cascade()))
	c := triaged(modelTriage, systemone.Texts("triage", "triage-latest")...)
	_, err := g.router.Decide(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"refund", "team", "urgency"}, {"team"}}, sheets(c))
}

// TestMistakesInNamingAModelMadeOfStages: with a suffix, or as an object, it is a
// mistake of the request, and so are conditions about questions that it lacks.
func TestMistakesInNamingAModelMadeOfStages(t *testing.T) {
	t.Parallel()
	below := 0.5
	nested := &systemone.Condition{Any: []systemone.Condition{{Question: "team", ConfidenceBelow: &below}, {Question: "refund", ConfidenceBelow: &below}}}
	for name, c := range map[string]struct {
		stages []systemone.Entry
		call   *router.Call
		want   []systemone.Issue
	}{
		"suffix": {
			cascade(), triaged("triage:floor"),
			[]systemone.Issue{{Path: "model", Message: "acme/triage is made of stages, so it takes no suffix and no members such as when"}},
		},
		"object": {
			cascade(), triaged(modelM, systemone.Entry{Model: "triage", When: unsure()}),
			[]systemone.Issue{{Path: "models.0.model", Message: "acme/triage is made of stages, so it takes no suffix and no members such as when"}},
		},
		"object without a condition": {
			cascade(), triaged(modelM, systemone.Entry{Model: modelN}, systemone.Entry{Model: "triage", ShopRefusals: true}),
			[]systemone.Issue{{Path: "models.1.model", Message: "acme/triage is made of stages, so it takes no suffix and no members such as when"}},
		},
		"a question that the request lacks": {
			[]systemone.Entry{{Model: modelM}, {Model: modelN, When: &systemone.Condition{Question: "desk", ConfidenceBelow: &below}}},
			triaged(modelTriage),
			[]systemone.Issue{{Path: "model.stages.1.when.question", Message: "is not a question of the request"}},
		},
		"a question of another kind": {
			[]systemone.Entry{{Model: modelM}, {Model: modelN, When: nested}},
			triaged(modelM, systemone.Texts(modelN, modelTriage)...),
			[]systemone.Issue{{Path: "models.1.stages.1.when.any.1.question", Message: "must be a choice or a score"}},
		},
	} {
		g := newComposedRig(t, nil, triage(c.stages))
		_, err := g.router.Decide(t.Context(), c.call)
		e := fault(t, err)
		assert.Equal(t, router.InvalidRequest, e.Class, name)
		assert.Equal(t, c.want, e.Issues, name)
		assert.Empty(t, g.upstreams["ant"].seen, name)
	}
}

// TestListsNameModelsMadeOfStages: an allow-list that names such a model lets its
// entries pass as its entries; one that names an entry lets that entry pass alone.
func TestListsNameModelsMadeOfStages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules []router.Rule
		call  *router.Call
		want  []string // the models of each group that may be asked
	}{
		"it":                     {[]router.Rule{{AllowedModels: []string{"triage-latest"}}}, triaged(modelTriage), []string{modelM, modelN}},
		"not its entries alone":  {[]router.Rule{{AllowedModels: []string{modelTriage}}}, triaged(modelM), nil},
		"the first entry":        {[]router.Rule{{AllowedModels: []string{modelM}}}, triaged(modelTriage), []string{modelM, ""}},
		"the second entry":       {[]router.Rule{{AllowedModels: []string{modelN}}}, triaged(modelTriage), []string{"", modelN}},
		"every list":             {[]router.Rule{{AllowedModels: []string{modelTriage}}, {AllowedModels: []string{modelN}}}, triaged(modelTriage), []string{"", modelN}},
		"another model":          {[]router.Rule{{AllowedModels: []string{"acme/other"}}}, triaged(modelTriage), nil},
		"its entry before it":    {[]router.Rule{{AllowedModels: []string{modelTriage}}}, triaged(modelM, systemone.Texts(modelTriage)...), []string{modelM, modelN}},
		"its entry behind it":    {[]router.Rule{{AllowedModels: []string{modelTriage}}}, triaged(modelTriage, systemone.Texts(modelN)...), []string{modelM, modelN}},
		"ignored":                {[]router.Rule{{IgnoredModels: []string{modelTriage}}}, triaged(modelTriage), nil},
		"ignored, entries alone": {[]router.Rule{{IgnoredModels: []string{modelTriage}}}, triaged(modelM, systemone.Texts(modelN)...), []string{modelM + " " + modelN}},
		"ignored entry":          {[]router.Rule{{AllowedModels: []string{modelTriage}, IgnoredModels: []string{modelM}}}, triaged(modelTriage), []string{"", modelN}},
	} {
		g := newComposedRig(t, nil, triage(cascade()))
		c.call.Policy, c.call.DryRun = c.rules, true
		_, err := g.router.Decide(t.Context(), c.call)
		if c.want == nil {
			assert.Equal(t, router.NotFound, fault(t, err).Class, name)
			continue
		}
		require.NoError(t, err, name)
		var got []string
		for _, l := range c.call.Report.Legs {
			var models []string
			for _, candidate := range l.Plan.Candidates {
				models = append(models, candidate.Endpoint.Model)
			}
			got = append(got, strings.Join(models, " "))
		}
		assert.Equal(t, c.want, got, name)
	}
}

// TestUsableListsModelsMadeOfStages by the endpoints that rules allow to them.
func TestUsableListsModelsMadeOfStages(t *testing.T) {
	t.Parallel()
	g := newComposedRig(t, nil, triage(cascade()))
	c := g.router.Catalog()
	tags := func(rules ...router.Rule) (list []string) {
		for _, e := range router.Usable(c, rules)[2] {
			list = append(list, e.Tag())
		}
		return list
	}
	assert.Equal(t, []string{"ant", "bee"}, tags())
	assert.Equal(t, []string{"ant", "bee"}, tags(router.Rule{AllowedModels: []string{modelTriage}}))
	assert.Equal(t, []string{"bee"}, tags(router.Rule{AllowedModels: []string{modelN}}))
	assert.Empty(t, tags(router.Rule{IgnoredModels: []string{modelTriage}}))
	assert.Empty(t, router.Usable(c, []router.Rule{{AllowedModels: []string{modelTriage}}})[0], "its entries by themselves")
	assert.Equal(t, c.Endpoints(), c.EndpointsOf(c.Model(modelTriage)))
}

// TestARefusalNamesTheModelAsRequested: a group of such a model is named as the request
// named it.
func TestARefusalNamesTheModelAsRequested(t *testing.T) {
	t.Parallel()
	stages := cascade()
	stages[1].Required = true
	g := newComposedRig(t, nil, triage(stages))
	c := triaged("triage", systemone.Texts(modelN)...)
	c.Policy = []router.Rule{{IgnoredProviders: []string{"bee"}}}
	_, err := g.router.Decide(t.Context(), c)
	assert.Equal(t, "No endpoints found for triage, acme/judge-mini", fault(t, err).Message)
}

func TestNewCatalogRefusesStages(t *testing.T) {
	t.Parallel()
	below := 1.5
	for want, breakIt := range map[string]func(m *router.Model, p *parts){
		"models[2]: acme/triage: stages: must have at least one entry":      func(m *router.Model, _ *parts) { m.Stages = []systemone.Entry{} },
		"models[2]: acme/triage: stages: must not have more than 64 models": func(m *router.Model, _ *parts) { m.Stages = make([]systemone.Entry, 65) },
		"models[2]: acme/triage: stages.1.model: must not be empty":         func(m *router.Model, _ *parts) { m.Stages[1].Model = "" },
		"models[2]: acme/triage: stages.1.when.confidenceBelow: must be a number from 0 to 1": func(m *router.Model, _ *parts) {
			m.Stages[1].When = &systemone.Condition{ConfidenceBelow: &below}
		},
		"models[2]: acme/triage: stages.0.when: must not be given for the first entry, before which nothing is answered": func(m *router.Model, _ *parts) {
			m.Stages[0].When = unsure()
		},
		`models[2]: acme/triage: stages.1: unknown model "nope"`:                      func(m *router.Model, _ *parts) { m.Stages[1].Model = "nope" },
		`models[2]: acme/triage: stages.1: "judge-mini:floor" must not have a suffix`: func(m *router.Model, _ *parts) { m.Stages[1].Model = "judge-mini:floor" },
		"models[2]: acme/triage: stages.1: acme/triage is made of stages itself":      func(m *router.Model, _ *parts) { m.Stages[1].Model = "triage" },
		"models[2]: acme/triage: stages.1: acme/more is made of stages itself": func(m *router.Model, p *parts) {
			m.Stages[1].Model = "more"
			p.models = append(p.models, router.Model{ID: "acme/more", Permaslug: "acme/more-1", Stages: systemone.Texts(modelM)})
		},
		"models[2]: acme/triage: stages.0: judge could be acme/judge or zeta/judge": func(m *router.Model, p *parts) {
			m.Stages[0].Model = "judge"
			p.models = append(p.models, router.Model{ID: "zeta/judge", Permaslug: "zeta/judge-1"})
		},
		"models[2]: acme/triage: MaxEscalated is not in 0 to 1": func(m *router.Model, _ *parts) { m.MaxEscalated = 1.1 },
		"models[2]: acme/triage: MaxEscalated without stages":   func(m *router.Model, _ *parts) { m.Stages, m.MaxEscalated = nil, 0.5 },
		"endpoints[0]: ant: acme/triage is made of stages and has no endpoints": func(_ *router.Model, p *parts) {
			p.endpoints[0].Model = modelTriage
		},
	} {
		p := parts{models: append(models(), triage(cascade())), providers: caseProviders(), endpoints: []router.Endpoint{{Provider: "ant", Model: modelM}}}
		breakIt(&p.models[2], &p)
		_, err := p.catalog()
		require.ErrorIs(t, err, router.ErrConfig, want)
		assert.Equal(t, router.ErrConfig.Error()+": "+want, err.Error())
	}
}
