package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// courseCheck checks one call against the law of stages, which it follows by itself.
type courseCheck struct {
	*rapid.T
	courseRun

	w       *courseWorld
	groups  []courseGroup
	answers map[string]systemone.Answer // as merged by the legs looked at so far
	from    map[string]int              // the leg that gave each
}

// courseGroup is an entry with the texts behind it.
type courseGroup struct {
	first  systemone.Entry
	models []string
}

// groupsOfEntries finds the groups by the words of the law.
func groupsOfEntries(q *systemone.Request) []courseGroup {
	groups := []courseGroup{{models: []string{q.Model}}}
	for _, e := range q.Models {
		if e.When != nil {
			groups = append(groups, courseGroup{first: e})
		}
		last := &groups[len(groups)-1]
		last.models = append(last.models, e.Model)
	}
	return groups
}

// named returns whether a condition is true, and the questions that true leaves name
// whose ancestors are all true. It looks at one leaf and one question at a time.
func (c *courseCheck) named(when *systemone.Condition) (bool, map[string]bool) {
	names := map[string]bool{}
	list, need := when.Any, 1
	switch {
	case when.All != nil:
		list, need = when.All, len(when.All)
	case when.AtLeast != nil:
		list, need = when.AtLeast.Conditions, when.AtLeast.Count
	case when.Any == nil:
		for _, q := range c.w.request.Questions {
			a, ok := c.answers[q.Name]
			if ok && (when.Question == "" || when.Question == q.Name) && c.hits(when, q, a) {
				names[q.Name] = true
			}
		}
		return len(names) > 0, names
	}
	for i := range list {
		if is, below := c.named(&list[i]); is {
			need--
			for name := range below {
				names[name] = true
			}
		}
	}
	if need > 0 {
		return false, nil
	}
	return true, names
}

func (*courseCheck) hits(leaf *systemone.Condition, q systemone.Question, a systemone.Answer) bool {
	if between := leaf.ProbabilityBetween; between != nil {
		return q.Kind == systemone.Noul && a.Noul >= between[0] && a.Noul <= between[1]
	}
	if q.Kind == systemone.Noul {
		return false
	}
	if a.Probabilities == nil {
		return true
	}
	p := make([]float64, len(a.Probabilities))
	for i := range p {
		p[i] = a.Probabilities[i].P
	}
	confidence := systemone.ChoiceConfidence(p)
	if q.Kind == systemone.Score {
		confidence = systemone.ScoreConfidence(p)
	}
	return confidence < *leaf.ConfidenceBelow
}

// TestLawOfStages: for any request, catalog, limits, refusals and failures the legs are
// those that the law allows, every answer is that of the attempt named for it, and the
// caller pays for what was used and for nothing else.
func TestLawOfStages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawCourse(rt)
		c := &courseCheck{
			T: rt, courseRun: w.run(t), w: w, groups: groupsOfEntries(w.request),
			answers: map[string]systemone.Answer{}, from: map[string]int{},
		}
		c.bounds()
		c.walkedOnce()
		c.money()
		if c.err == nil {
			c.stages()
			c.reply()
		}
	})
}

// bounds checks what limits the legs of any call.
func (c *courseCheck) bounds() {
	timeout := 30 * time.Second
	if ms := c.w.request.Routing.DeadlineMS; ms > 0 {
		timeout = time.Duration(ms) * time.Millisecond
	}
	require.LessOrEqual(c, c.elapsed, timeout)
	require.LessOrEqual(c, c.most, 8, "sheets at once")
	legs, preferences := c.call.Report.Legs, c.w.request.Provider
	if preferences != nil && preferences.AllowFallbacks != nil {
		require.LessOrEqual(c, len(legs), 1)
		require.LessOrEqual(c, len(c.asked), len(c.w.request.Questions), "one attempt")
	}
	for _, l := range legs {
		counted := 0
		for i := range l.Attempts {
			e := l.Attempts[i].Endpoint
			if !e.LastResort {
				counted++
			}
			require.Contains(c, c.groups[l.Group].models, e.Model[len("acme/"):])
			require.True(c, c.allowed(e.Provider))
			require.True(c, e.Limits.Questions == 0 || len(l.Questions) <= e.Limits.Questions)
			for _, q := range l.Questions {
				require.True(c, e.Limits.Options == 0 || len(q.Options) <= e.Limits.Options)
			}
		}
		require.LessOrEqual(c, counted, c.w.attempts)
	}
}

func (c *courseCheck) allowed(provider string) bool {
	if p := c.w.request.Provider; p != nil {
		if len(p.Only) > 0 && !slices.Contains(p.Only, provider) || slices.Contains(p.Ignore, provider) {
			return false
		}
	}
	return len(c.w.policy) == 0 || !slices.Contains(c.w.policy[0].IgnoredProviders, provider)
}

// walkedOnce checks that groups are taken from left to right, each for one stage.
func (c *courseCheck) walkedOnce() {
	begun := map[int]int{}
	group := 0
	for _, l := range c.call.Report.Legs {
		require.GreaterOrEqual(c, l.Group, group, "from left to right")
		group = l.Group
		if l.Reason == router.LegFirst || l.Reason == router.LegEscalated {
			begun[l.Group]++
		}
	}
	for g, n := range begun {
		require.Equal(c, 1, n, "stages of group %d", g)
	}
}

// money checks that the caller pays for what was used, or for what it ended.
func (c *courseCheck) money() {
	var sum router.USD
	for rec := range c.call.Report.Attempts() {
		require.True(c, rec.Billed || rec.Cost == 0)
		require.True(c, !rec.Billed || rec.Class == "" || rec.Abandoned || len(rec.Refused) > 0, "a failure costs nothing")
		require.True(c, !rec.Billed || rec.Abandoned || rec.Cost == rec.UpstreamCost)
		sum += rec.Cost
	}
	require.Equal(c, router.Balance{Spent: router.Amount{Credit: sum, Total: sum}}, c.balance)
	var events router.USD
	for _, e := range c.call.Events(c.res) {
		events += e.Cost.Credit
	}
	require.Equal(c, sum, events)
	ended := errors.Is(c.err, context.DeadlineExceeded) || c.w.request.Routing.DeadlineMS > 0
	switch {
	case c.err == nil:
		require.Equal(c, sum, c.res.Cost)
		require.Equal(c, sum.String(), c.res.Response.Usage.Cost.String())
	case !ended:
		require.Zero(c, sum, "an error costs nothing")
	}
	if text := c.w.request.Routing.MaxCost; text != "" {
		require.LessOrEqual(c, sum, router.Dollars(text).USD())
	}
	if c.w.budget > 0 {
		require.LessOrEqual(c, sum, c.w.budget)
	}
}

// stages follows the legs of an answered call stage by stage.
func (c *courseCheck) stages() {
	legs, g := c.call.Report.Legs, 0
	for i := 0; i < len(legs); g++ {
		from := i
		for i < len(legs) && legs[i].Group == g {
			i++
		}
		if len(c.answers) == 0 { // the first stage, or a fallback for it
			for _, l := range legs[from:i] {
				require.Empty(c, l.TriggeredBy)
			}
		} else {
			c.stage(g, legs[from:i])
		}
		c.merge(from, i)
	}
	for ; g < len(c.groups) && !c.ended(); g++ {
		if len(c.answers) > 0 {
			c.stage(g, nil)
		}
	}
}

// ended reports whether no further group may be asked.
func (c *courseCheck) ended() bool {
	for rec := range c.call.Report.Attempts() {
		if slices.ContainsFunc(rec.Refused, func(r router.Refusal) bool { return r.Safety }) {
			return true // unless the entry shops, which is not followed here
		}
	}
	p := c.w.request.Provider
	return p != nil && p.AllowFallbacks != nil
}

// stage checks the legs of a group behind the first: none where it is not due, and no
// question that has an answer and that no true leaf named.
func (c *courseCheck) stage(g int, legs []*router.Leg) {
	e := c.groups[g].first
	due, names := c.named(e.When)
	may := map[string]bool{}
	var by []string
	open := 0
	for _, q := range c.w.request.Questions {
		_, answered := c.answers[q.Name]
		if !answered {
			open++
		}
		if names[q.Name] {
			by = append(by, q.Name)
		}
		may[q.Name] = !answered || names[q.Name] || due && e.Scope == systemone.ScopeAll
	}
	if open == 0 && !due {
		require.Empty(c, legs, "not due")
		return
	}
	require.NotEmpty(c, legs, "due")
	first := map[string]bool{}
	for _, l := range legs {
		if l.TriggeredBy != nil {
			require.Equal(c, by, l.TriggeredBy)
		}
		for _, name := range l.Asked() {
			require.True(c, may[name], "%s of group %d", name, g)
			first[name] = true
		}
	}
	for name := range may {
		require.Equal(c, may[name], first[name] || may[name] && !c.whole(legs), "%s of group %d", name, g)
	}
}

// whole reports whether the legs are such that everything due was asked.
func (*courseCheck) whole(legs []*router.Leg) bool {
	return legs[0].Reason != router.LegSplit // sheets behind one that failed are not planned
}

// merge takes the answers of the legs [from, to), which are those of one stage.
func (c *courseCheck) merge(from, to int) {
	legs := c.call.Report.Legs[from:to]
	if slices.ContainsFunc(legs, (*router.Leg).Used) && slices.ContainsFunc(legs, failedSheet) && c.w.request.Refusals {
		c.Skip("a sheet of a group that failed may be charged for a refusal that is an answer")
	}
	for i, l := range legs {
		if !l.Used() {
			continue
		}
		rec := &l.Attempts[len(l.Attempts)-1]
		for _, name := range l.Asked() {
			if slices.ContainsFunc(legs, func(other *router.Leg) bool { return refusedAt(other, rec.Endpoint, name) }) {
				continue
			}
			at := slices.IndexFunc(c.w.request.Questions, func(q systemone.Question) bool { return q.Name == name })
			was, replaced := c.answers[name]
			if c.from[name] < from && replaced {
				c.replaced(at, from+i, c.from[name], was)
			}
			c.answers[name], c.from[name] = c.w.answer(rec.Endpoint, c.w.request.Questions[at]), from+i
		}
	}
}

func failedSheet(l *router.Leg) bool { return l.Reason == router.LegSplit && !l.Used() }

// refusedAt reports whether an endpoint has refused a question of the request, or a part
// of it, on a leg.
func refusedAt(l *router.Leg, e *router.Endpoint, question string) bool {
	for i := range l.Attempts {
		for _, r := range l.Attempts[i].Refused {
			if l.Attempts[i].Endpoint == e && sourceOf(l, r.Question) == question {
				return true
			}
		}
	}
	return false
}

// sourceOf returns the question of the request that a question of a leg is, or is a part
// of: options are named after their question.
func sourceOf(l *router.Leg, asked string) string {
	for _, q := range l.Questions {
		if q.Name == asked && len(q.Options) > 0 {
			source, _, _ := strings.Cut(q.Options[0].Name, "-")
			return source
		}
	}
	return asked
}

// replaced checks that the reply says what an answer replaced, where no later stage
// replaced it again.
func (c *courseCheck) replaced(question, leg, was int, answer systemone.Answer) {
	from := c.call.Report.Provenance(question)
	if from.Leg != leg {
		return
	}
	require.NotNil(c, from.Replaced)
	require.Equal(c, was, from.Replaced.Leg)
	same(c, answer, from.Replaced.Answer)
}

// same requires that two answers say the same, but for the rounding of a choice that
// was asked in parts.
func same(t require.TestingT, want, got systemone.Answer) {
	require.Equal(t, want.Kind, got.Kind)
	require.InDelta(t, want.Noul, got.Noul, 1e-9)
	require.InDelta(t, want.Score, got.Score, 1e-9)
	require.Len(t, got.Probabilities, len(want.Probabilities))
	for i := range want.Probabilities {
		require.Equal(t, want.Probabilities[i].Label, got.Probabilities[i].Label)
		require.InDelta(t, want.Probabilities[i].P, got.Probabilities[i].P, 1e-9)
	}
}

// reply checks the merged reply as a whole, and where each answer comes from.
func (c *courseCheck) reply() {
	r := &c.call.Report
	require.NoError(c, systemone.Check(c.w.request, c.res.Response.Answers, systemone.Tolerance{NoDistribution: true}))
	for i, a := range c.res.Response.Answers {
		from := r.Provenance(i)
		l := r.Legs[from.Leg]
		require.Contains(c, l.Asked(), a.Name)
		rec := &l.Attempts[from.Attempt]
		require.True(c, rec.Billed)
		if a.Refusal != "" {
			require.True(c, refusedAt(l, rec.Endpoint, a.Name))
			continue
		}
		require.Empty(c, rec.Class)
		require.Equal(c, c.from[a.Name], from.Leg)
		same(c, c.w.answer(rec.Endpoint, c.w.request.Questions[i]), a)
	}
}

// TestReplayBySeed: a call with the seed of another one has the same legs, plans and
// answers. Sheets that run beside one that fails may end otherwise.
func TestReplayBySeed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawCourse(rt)
		w.slow = false // what happens at the very instant of a deadline is chance
		first := w.run(t)
		if slices.ContainsFunc(first.call.Report.Legs, chance) {
			rt.Skip("sheets that run at once compete for room and time")
		}
		again := w.run(t)
		require.Equal(rt, first.err == nil, again.err == nil)
		require.Len(rt, again.call.Report.Legs, len(first.call.Report.Legs))
		for i, l := range first.call.Report.Legs {
			require.Equal(rt, legText(l), legText(again.call.Report.Legs[i]))
		}
		if first.err == nil {
			require.Equal(rt, first.res.Response.Answers, again.res.Response.Answers)
			require.Equal(rt, first.res.Cost, again.res.Cost)
		}
	})
}

// chance reports whether what becomes of a sheet may depend on those beside it.
func chance(l *router.Leg) bool {
	return l.Reason == router.LegSplit && (!l.Used() || len(l.Attempts) > 1 || len(l.Skipped) > 0)
}

// legText shows what a leg was, without its times.
func legText(l *router.Leg) string {
	var b strings.Builder
	fmt.Fprint(&b, l.Reason, l.Group, l.Asked(), l.TriggeredBy, l.Kept, l.Plan.Seed)
	b.WriteString(l.Plan.Strategy)
	for _, f := range l.Plan.ExcludedBy {
		b.WriteString(" " + f.String())
	}
	for _, c := range l.Plan.Candidates {
		fmt.Fprint(&b, " ", c.Endpoint.UpstreamModel, c.Reason, c.Weight)
	}
	for i := range l.Attempts {
		fmt.Fprint(&b, " ", l.Attempts[i].Endpoint.UpstreamModel, l.Attempts[i].Class, l.Attempts[i].Cost)
	}
	for _, s := range l.Skipped {
		fmt.Fprint(&b, " ", s.Endpoint.UpstreamModel, s)
	}
	return b.String()
}

// Of a hundred sheets, eight are asked at once.
func TestEightSheetsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, "ant", nil, limited(1, 0))
		var running, most atomic.Int64
		even := slow(time.Second, softmax(func(string) float64 { return 0 }))
		g.upstreams["ant"].will(func(ctx context.Context, a router.Attempt) (router.Reply, error) {
			n := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); n > m; m = most.Load() {
				if most.CompareAndSwap(m, n) {
					break
				}
			}
			return even(ctx, a)
		})
		c := &router.Call{Request: large(100, 0)}
		began := time.Now()
		_, err := g.router.Decide(t.Context(), c)
		require.NoError(t, err)
		require.EqualValues(t, 8, most.Load())
		require.Equal(t, 13*time.Second, time.Since(began), "a hundred by eight")
	})
}
