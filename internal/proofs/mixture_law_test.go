package proofs

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// honest requires that the outcome of a call is honest, and returns what the call was
// charged: its reply names the right sources, and its report, its events and its usage
// name the same money, which is what the upstreams counted.
func (o *told) honest(t *testing.T) (charged router.Amount) {
	t.Helper()
	require.NotEqual(t, o.res == nil, o.err == nil, "an answer or an error")
	if o.call.Report.Replayed {
		assert.Empty(t, o.call.Report.Legs)
		return charged
	}
	billed, tokens := 0, [2]int64{}
	for rec := range o.call.Report.Attempts() {
		o.honestAttempt(t, rec)
		if rec.Billed {
			billed++
			tokens[0] += rec.Usage.InputTokens
			tokens[1] += rec.Usage.OutputTokens
		}
		charged.Credit += rec.Cost
		charged.Total += rec.Cost + rec.OwnCost
	}
	if o.draw == nil {
		assert.Nil(t, o.call.Report.Overrun, "what is charged was held")
	}
	var sum router.Amount
	requests, ids := int64(0), map[string]bool{}
	for _, e := range o.call.Events(o.res) {
		sum.Credit += e.Cost.Credit
		sum.Total += e.Cost.Total
		requests += e.Requests
		ids[e.ID] = true
	}
	assert.Len(t, ids, billed, "an event for each billed attempt")
	assert.Equal(t, charged, sum)
	if o.res == nil {
		assert.Zero(t, requests)
		o.honestError(t)
		return charged
	}
	remembered := slices.ContainsFunc(o.call.Report.Legs, func(l *router.Leg) bool { return l.Remembered != nil })
	if billed > 0 || !remembered {
		assert.Equal(t, int64(1), requests)
	}
	assert.Equal(t, charged.Credit, o.res.Cost)
	assert.Equal(t, [2]int64{o.res.Response.Usage.InputTokens, o.res.Response.Usage.OutputTokens}, tokens)
	assert.Equal(t, charged.Credit.String(), string(o.res.Response.Usage.Cost))
	o.honestReply(t)
	return charged
}

// honestAttempt requires that an attempt is charged what its upstream counted.
func (o *told) honestAttempt(t *testing.T, rec *router.AttemptRecord) {
	t.Helper()
	if !rec.Billed {
		assert.Zero(t, rec.Cost+rec.OwnCost)
	}
	if o.shares { // the usage is a share of the upstream's
		return
	}
	if given, ok := o.given[rec.UpstreamID]; ok {
		assert.Equal(t, given, rec.Usage)
	} else {
		assert.NotEmpty(t, rec.Class, "nobody answered")
	}
	list := rec.Endpoint.Pricing.Cost(rec.Usage.InputTokens, rec.Usage.OutputTokens)
	switch {
	case !rec.Billed:
	case rec.Credential != nil:
		assert.Zero(t, rec.Cost)
		assert.Equal(t, list, rec.OwnCost)
	default:
		assert.Equal(t, list, rec.Cost)
	}
	if rec.Abandoned {
		assert.True(t, o.ended || o.moments.what == late)
		assert.True(t, rec.Billed || o.lost() || rec.Endpoint.Pricing == router.Pricing{}, "what ran is charged")
	}
}

// honestReply requires that each answer is that of its source, which is billed, and
// that of answers only those are free that are in no reply.
func (o *told) honestReply(t *testing.T) {
	t.Helper()
	answers := o.res.Response.Answers
	require.NoError(t, systemone.Check(o.call.Request, answers, systemone.Tolerance{}))
	legs := o.call.Report.Legs
	source := func(leg int, name string) bool {
		l := legs[leg]
		assert.Contains(t, l.Asked(), name)
		return l.Remembered != nil || slices.ContainsFunc(l.Attempts, func(rec router.AttemptRecord) bool { return rec.Billed && rec.UpstreamID != "" })
	}
	for i, a := range answers {
		from := o.call.Report.Provenance(i)
		assert.True(t, source(from.Leg, a.Name))
		if from.Attempt < 0 {
			continue
		}
		rec := legs[from.Leg].Attempts[from.Attempt]
		assert.True(t, rec.Billed, "%s is of an attempt that is charged", a.Name)
		if got, ok := rec.Answers.Get(a.Name); ok && a.Kind == systemone.Noul {
			assert.InDelta(t, got.Noul, a.Noul, 0)
		}
		if from.Replaced != nil {
			assert.True(t, source(from.Replaced.Leg, a.Name), "what decided about a stage is charged")
			assert.Less(t, from.Replaced.Leg, from.Leg)
		}
	}
	for _, l := range legs {
		for _, rec := range l.Attempts {
			if rec.Class == "" && !rec.Billed {
				assert.Equal(t, router.LegSplit, l.Reason, "only sheets of a query that failed are not used")
			}
		}
	}
}

// honestError requires that a call that failed is charged only where its caller ended
// it: every answer, and what ran.
func (o *told) honestError(t *testing.T) {
	t.Helper()
	paid, free, abandoned := 0, 0, 0
	answered := map[string]bool{}
	for _, l := range o.call.Report.Legs {
		for _, rec := range l.Attempts {
			switch {
			case rec.Abandoned:
				abandoned++
			case rec.Class == "" && rec.Billed:
				paid++
			case rec.Class == "":
				free++
			}
			for _, a := range rec.Answers {
				answered[a.Name] = l.Reason != router.LegSplit
			}
		}
	}
	if o.lost() {
		assert.Zero(t, paid, "nobody knows what is charged")
		return
	}
	all := !slices.ContainsFunc(o.call.Request.Questions, func(q systemone.Question) bool { return !answered[q.Name] })
	required := slices.ContainsFunc(o.call.Request.Models, func(e systemone.Entry) bool { return e.Required })
	assert.False(t, all && !required, "every question was answered: %v", o.err)
	if o.moments.what == hangsUp && strings.HasPrefix(o.moments.name, "reserve") && o.call.Idempotency == nil {
		require.ErrorIs(t, o.err, context.Canceled, "%s, failing %q, hung up at %s", o.name, o.failing, o.moments.name)
	}
	switch {
	case o.shares:
	case o.moments.what == hangsUp && o.moments.name != "" && !closes(o.moments.name) && o.call.Idempotency == nil:
		assert.Zero(t, free, "all answers are charged")
		assert.Equal(t, o.cut, abandoned)
	case paid > 0:
		assert.Equal(t, late, o.moments.what)
		assert.Zero(t, free, "all answers are charged, or none")
	default:
		assert.Zero(t, paid)
	}
}

// lost reports whether the ledger failed for good when the call closed its hold. What
// it is charged is then decided by what the ledger has.
func (o *told) lost() bool { return o.moments.what == dies && closes(o.moments.name) }
