package router

import (
	"context"
	"encoding/json"

	"github.com/signalbox/signalbox/systemone"
)

// result returns the merged answers of the call, or the error where a question has
// none.
func (k *course) result() (*Result, error) {
	if k.merged.given < len(k.merged.questions) && (k.last.decides || !k.merged.answerByRefusal()) {
		return nil, k.failure()
	}
	report := &k.call.Report
	for _, from := range k.merged.sources {
		if from.Attempt >= 0 {
			report.Legs[from.Leg].Attempts[from.Attempt].used = true // a refusal may be one
		}
	}
	report.sources = k.merged.sources
	from := k.merged.most(report.Legs)
	endpoint := from.by(report.Legs)
	res := &Result{
		Response: systemone.Response{
			ID:       k.call.ID,
			Model:    endpoint.model.Permaslug,
			Provider: k.call.world.byEndpoint[endpoint.ID].provider.Name,
			Answers:  k.merged.answers,
		},
		Endpoint: endpoint,
	}
	usage := &res.Response.Usage
	for rec := range report.Attempts() {
		if !rec.used && !rec.Abandoned {
			continue
		}
		k.bill(rec)
		res.Cost += rec.Cost
		usage.InputTokens += rec.Usage.InputTokens
		usage.OutputTokens += rec.Usage.OutputTokens
		usage.ReasoningTokens += rec.Usage.ReasoningTokens
		usage.CachedTokens += rec.Usage.CachedTokens
	}
	usage.Cost = json.Number(res.Cost.String())
	return res, nil
}

// failure returns the error of a call that was not answered whole: that of all its
// attempts, unless the leg that ended last decides.
func (k *course) failure() error {
	report := &k.call.Report
	report.Stopped = k.last.stop
	if k.last.decides || report.last() == nil {
		return k.last.err
	}
	return ofAttempts(report)
}

// bill charges an attempt. With the caller's own credential Cost is 0, because the
// upstream charges the caller.
func (k *course) bill(rec *AttemptRecord) {
	if rec.Abandoned && rec.charge.Total == 0 {
		return
	}
	rec.Billed, rec.Cost, rec.OwnCost = true, rec.charge.Credit, rec.charge.BYOK()
	k.router.estimates.note(rec)
}

// billEnded bills a call that failed because its caller ended it: every answer that
// was received, and the estimates of what ran. It reports whether anything is
// charged.
func (k *course) billEnded(ctx context.Context) (charged bool) {
	// A deadline that has passed by now may not be why the call ended.
	ended := hungUp(ctx) || k.call.Report.Stopped == StopDeadline && k.deadline.spare > 0
	for rec := range k.call.Report.Attempts() {
		ended = ended || rec.Abandoned
	}
	if !ended {
		return false
	}
	for rec := range k.call.Report.Attempts() {
		if rec.Class == "" || rec.Abandoned {
			k.bill(rec)
			charged = charged || rec.Billed
		}
	}
	return charged
}

// unbill takes back what was billed where the ledger may not have charged it:
// expiry of the hold decides.
func (k *course) unbill() {
	for rec := range k.call.Report.Attempts() {
		if rec.Abandoned {
			rec.Usage.InputTokens = 0
		}
		rec.Billed, rec.Cost, rec.OwnCost = false, 0, 0
	}
}
