package router

import (
	"context"
	"errors"
	"slices"

	"github.com/signalbox/signalbox/systemone"
)

// refused returns the outcome of a stage that answered some questions and of which
// others were refused.
func (k *course) refused() staged {
	out := staged{answered: true, kept: KeptRefused, stop: StopCandidates, err: ofAttempts(&k.call.Report)}
	if k.barred {
		out.stop = StopCaller
	}
	return out
}

// declined reports whether a walk failed because an upstream refused every question,
// and for no other reason.
func (w *walk) declined(err error) bool {
	return err != nil && !w.ledger && classOf(err) != Server && !errors.Is(err, context.Canceled) && w.kept(err) == KeptRefused
}

// decline notes what a walk's attempts refused, if a refusal may be an answer.
func (k *course) decline(w *walk) {
	if !k.call.Request.Refusals {
		return
	}
	from := w.source()
	for i := range w.leg.Attempts {
		if rec := &w.leg.Attempts[i]; len(rec.Refused) > 0 {
			from.Attempt = i
			k.merged.decline(from, rec.Refused)
		}
	}
}

// open returns the indexes of refused questions that may be asked elsewhere: all
// but those refused for safety, which only a model whose entry says so leaves to
// others. One of these ends the call.
func (k *course) open(w *walk, refused []Refusal) (ask []int32) {
	rec := &w.leg.Attempts[len(w.leg.Attempts)-1]
	names := make(map[string]bool, len(refused))
	for _, r := range refused {
		names[r.Question] = !r.Safety || w.shops(rec.Model)
		k.barred = k.barred || !names[r.Question]
	}
	for i := range k.merged.questions {
		if names[k.merged.questions[i].Name] {
			ask = append(ask, int32(i))
		}
	}
	return ask
}

// shops reports whether questions that a model refuses for safety are asked of
// others.
func (w *walk) shops(m *Model) bool { return slices.Contains(w.groups[w.leg.Group].shops, m) }

// without returns the request without the questions that were refused.
func without(q *systemone.Request, refused []Refusal) *systemone.Request {
	names := make(map[string]bool, len(refused))
	for _, r := range refused {
		names[r.Question] = true
	}
	part := *q
	part.Questions = make([]systemone.Question, 0, len(q.Questions))
	for i := range q.Questions {
		if !names[q.Questions[i].Name] {
			part.Questions = append(part.Questions, q.Questions[i])
		}
	}
	return &part
}

// refusedForSafety reports whether the upstream declined the whole sheet for safety.
func (rec *AttemptRecord) refusedForSafety() bool {
	return errors.Is(rec.Err, errRefused) && slices.ContainsFunc(rec.Refused, func(r Refusal) bool { return r.Safety })
}
