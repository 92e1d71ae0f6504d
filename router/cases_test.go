package router_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// TestCases runs testdata/routing-cases.txt. -run 'Cases/R31b' runs one line.
func TestCases(t *testing.T) {
	cases, named := readCases(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, request := range c.requests {
				if names, ok := strings.CutPrefix(c.catalog, "names"); ok {
					checkNames(t, names, request, c.outcome)
					continue
				}
				checkCase(t, c, named, request)
			}
		})
	}
}

func checkCase(t *testing.T, c routingCase, named map[string]string, request string) {
	t.Helper()
	want := parseOutcome(t, c.outcome)
	in, names, err := c.input(t, named, request)
	if want.status == 400 {
		requireIssues(t, err, want.words)
		return
	}
	require.NoError(t, err)
	plan := router.NewPlan(in)
	if want.status != 200 {
		requireRefusal(t, plan.Err(names), want, names)
		checkExcluded(t, plan, want, len(in.Models))
		return
	}
	require.NoError(t, plan.Err(names))
	if want.draw == nil {
		checkOrder(t, plan, want, len(in.Models))
		return
	}
	checkDraw(t, in, want)
}

// requireIssues requires that a request was refused with the issues that the words
// name.
func requireIssues(t *testing.T, err error, words []string) {
	t.Helper()
	require.Error(t, err)
	var issues []systemone.Issue
	if refused, ok := errors.AsType[*router.Error](err); ok {
		assert.Equal(t, router.InvalidRequest, refused.Class)
		issues = refused.Issues
	}
	if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok {
		for _, i := range invalid.Issues {
			issues = append(issues, systemone.Issue{Path: "provider." + i.Path, Message: i.Message})
		}
	}
	require.NotEmpty(t, issues)
	for _, word := range words {
		assert.True(t, slices.ContainsFunc(issues, func(i systemone.Issue) bool {
			return i.Path == word || strings.Contains(i.Message, word)
		}), "no issue speaks of %s: %v", word, issues)
	}
}

func requireRefusal(t *testing.T, err error, want outcome, names []string) {
	t.Helper()
	refused, ok := errors.AsType[*router.Error](err)
	require.True(t, ok, "%v", err)
	if want.status == 503 {
		assert.Equal(t, &router.Error{Class: router.NoCapacity}, refused)
		return
	}
	assert.Equal(t, &router.Error{
		Class:      router.NotFound,
		Message:    "No endpoints found for " + strings.Join(names, ", "),
		ExcludedBy: append([]string{}, want.words...),
	}, refused)
}

// checkOrder compares a plan without a draw, whatever the seed.
func checkOrder(t *testing.T, plan router.Plan, want outcome, models int) {
	t.Helper()
	assert.Equal(t, want.rest, candidates(plan, models))
	for i, c := range plan.Candidates {
		if i == 0 && plan.Strategy == "load-balancing" {
			assert.InDelta(t, 1, c.Weight, 0, "alone in its draw")
			continue
		}
		assert.Zero(t, c.Weight)
	}
	checkExcluded(t, plan, want, models)
}

const seeds = 4_000

// checkDraw makes the plan with many seeds. The order behind the first place must
// always be the same, the weights those of the case, and the first places as
// frequent as their weights.
func checkDraw(t *testing.T, in router.PlanInput, want outcome) {
	t.Helper()
	wins := map[string]int{}
	for in.Seed = range uint64(seeds) {
		plan := router.NewPlan(in)
		got := candidates(plan, len(in.Models))
		require.NotEmpty(t, got)
		require.Contains(t, want.draw, got[0])
		wins[got[0]]++
		order := append([]string{got[0]}, slices.DeleteFunc(slices.Clone(want.draw), func(s string) bool { return s == got[0] })...)
		order = append(order, want.rest...)
		if want.alone {
			order = order[:1]
		}
		require.Equal(t, order, got)
		require.Equal(t, router.ReasonDrawn, plan.Candidates[0].Reason)
		for i, c := range plan.Candidates {
			weight := 0.0
			if j := slices.Index(want.draw, got[i]); j >= 0 {
				weight, _ = want.odds[j].Float64()
			}
			require.InDelta(t, weight, c.Weight, 1e-12, "the weight of %s", got[i])
		}
		if in.Seed == 0 {
			checkExcluded(t, plan, want, len(in.Models))
		}
	}
	for i, name := range want.draw {
		p, _ := want.odds[i].Float64()
		deviation := math.Sqrt(p * (1 - p) / seeds)
		assert.InDelta(t, p, float64(wins[name])/seeds, 4*deviation, "how often %s comes first", name)
	}
}

func candidates(plan router.Plan, models int) []string {
	var list []string
	for _, c := range plan.Candidates {
		name := short(c.Endpoint, models)
		if c.Credential != nil {
			name = "own(" + name + strings.TrimPrefix(string(c.Credential.Secret), ownSecret) + ")"
		}
		list = append(list, name)
	}
	return list
}

// checkExcluded compares what is excluded and why. A case that is refused need not
// name all exclusions. A case with a single candidate does not name those behind
// it.
func checkExcluded(t *testing.T, plan router.Plan, want outcome, models int) {
	t.Helper()
	var got []string
	for _, e := range plan.Excluded {
		if e.Reason == router.FilterFallbacks {
			assert.True(t, want.alone, "fallbacks were allowed")
			continue
		}
		got = append(got, short(e.Endpoint, models)+" "+e.Reason.String())
	}
	if want.status == 200 {
		assert.ElementsMatch(t, want.excluded, got)
		return
	}
	assert.Subset(t, got, append([]string{}, want.excluded...))
	if want.status == 404 {
		assert.Equal(t, len(want.words) == 0, len(got) == 0)
	}
}

// checkNames resolves a list of model names.
func checkNames(t *testing.T, more, request, expected string) {
	t.Helper()
	models := caseModels()
	if id, ok := strings.CutPrefix(more, " + "); ok {
		models = append(models, router.Model{ID: id, Permaslug: id + "-20260101"})
	}
	catalog, err := router.NewCatalog(models, nil, nil)
	require.NoError(t, err)
	var names []string
	if request != `""` {
		for name := range strings.SplitSeq(strings.Trim(request, `"`), ",") {
			names = append(names, modelID(name))
		}
	}
	refs, err := catalog.Resolve("", names...)
	if want := parseOutcome(t, expected); want.status == 400 {
		requireIssues(t, err, want.words)
		refused, _ := errors.AsType[*router.Error](err)
		if len(names) > 0 {
			assert.Equal(t, names[len(names)-1]+" is not a valid model ID", refused.Message)
		}
		return
	}
	require.NoError(t, err, request)
	var got []string
	for _, ref := range refs {
		got = append(got, ref.Model.ID)
	}
	var want []string
	for name := range strings.SplitSeq(expected, ", ") {
		want = append(want, modelID(name))
	}
	assert.Equal(t, want, got, request)
}
