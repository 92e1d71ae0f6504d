package prommetrics

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

var _ router.Observer = (*Metrics)(nil)

// Observe implements [router.Observer]: it counts a call, its attempts, its stages, its
// cost and its answers. Before [Metrics.Register] it does nothing.
func (m *Metrics) Observe(_ context.Context, o router.Outcome) {
	s := m.current()
	if s == nil || isDryRun(&o.Report) {
		return
	}
	model := modelOf(s.catalog, o.Request)
	m.decided(s, model, outcomeOf(&o))
	m.decisionDuration.Observe(o.Duration.Seconds())
	for a := range o.Report.Attempts() {
		m.attempted(s, a)
	}
	m.escalated(s, model, &o.Report)
	if o.Result != nil && len(o.Report.Legs) > 0 {
		m.confidences(s, &o.Report, o.Result.Response.Answers)
	}
}

func isDryRun(r *router.Report) bool {
	return slices.ContainsFunc(r.Legs, func(l *router.Leg) bool { return l.Bounds != nil })
}

// modelOf returns the id of the model that a request names first, or unknown.
func modelOf(c *router.Catalog, q *systemone.Request) string {
	if q == nil {
		return unknown
	}
	name := q.Model
	if name == "" && len(q.Models) > 0 {
		name = q.Models[0].Model
	}
	name, _, _ = strings.Cut(name, ":") // a suffix such as :floor
	if m := c.Model(name); m != nil {
		return m.ID
	}
	return unknown
}

// outcomeOf tells a refusal, whose reason lies with the caller, from a failure.
func outcomeOf(o *router.Outcome) outcome {
	switch {
	case o.Err == nil && o.Result != nil:
		return answered
	case errors.Is(o.Err, systemone.ErrInvalid):
		return refused
	}
	switch router.Failure(o.Err).Class {
	case router.Server, router.ProviderUnavailable, router.NoCapacity, router.Timeout, router.ProviderOverloaded:
		return failed
	case router.RateLimitExceeded:
		for range o.Report.Attempts() {
			return failed // it is the upstreams' limit
		}
		return refused
	default:
		return refused
	}
}

func (m *Metrics) decided(s *series, model string, o outcome) {
	if of := s.models[model]; of != nil {
		of.decisions[o].Inc()
		return
	}
	m.decisions.WithLabelValues(unknown, o.String()).Inc()
}

// attempted counts an attempt and what it cost.
func (m *Metrics) attempted(s *series, a *router.AttemptRecord) {
	class := classOf(a)
	if of := s.served[served{a.Endpoint.Provider, a.Endpoint.Model}]; of != nil {
		of.attempts[class].Inc()
		of.cost.add(a.Cost)
	} else {
		m.attempts.WithLabelValues(unknown, unknown, string(classes[class])).Inc()
		m.unknownCost.add(a.Cost)
	}
	seconds := s.attempts[a.Endpoint.Provider]
	if seconds == nil {
		seconds = m.attemptDuration.WithLabelValues(unknown)
	}
	seconds.Observe(a.Duration.Seconds())
}

// classOf returns the index of an attempt's class.
func classOf(a *router.AttemptRecord) int {
	if a.Class == "" {
		return slices.Index(classes[:], classOK)
	}
	if i := slices.Index(classes[:], a.Class); i >= 0 {
		return i
	}
	return slices.Index(classes[:], router.ProviderUnavailable)
}

// escalated counts the later stages that answers made due. The legs of one stage stand
// side by side.
func (m *Metrics) escalated(s *series, model string, r *router.Report) {
	for i := 0; i < len(r.Legs); {
		group, by, o := r.Legs[i].Group, false, refused
		for ; i < len(r.Legs) && r.Legs[i].Group == group; i++ {
			l := r.Legs[i]
			by = by || len(l.TriggeredBy) > 0
			switch {
			case l.Used():
				o = answered
			case len(l.Attempts) > 0 && o == refused:
				o = failed
			}
		}
		switch of := s.models[model]; {
		case !by:
		case of != nil:
			of.escalations[o].Inc()
		default:
			m.escalations.WithLabelValues(unknown, o.String()).Inc()
		}
	}
}

// confidences counts how sure the models were of the answers in the reply.
func (m *Metrics) confidences(s *series, r *router.Report, answers systemone.Answers) {
	for i := range answers {
		confidence, ok := confidenceOf(&answers[i])
		from := endpointOf(r, r.Provenance(i))
		if !ok || from == nil {
			continue
		}
		of := s.models[from.Model]
		if of == nil || of.confidence == nil {
			m.confidence.WithLabelValues(unknown).Observe(confidence)
			continue
		}
		of.confidence.Observe(confidence)
	}
}

// endpointOf returns the endpoint that gave an answer, or nil where no leg did.
func endpointOf(r *router.Report, from router.Provenance) *router.Endpoint {
	if from.Leg >= len(r.Legs) {
		return nil
	}
	switch l := r.Legs[from.Leg]; {
	case l.Remembered != nil:
		return l.Remembered.Endpoint
	case from.Attempt >= 0 && from.Attempt < len(l.Attempts):
		return l.Attempts[from.Attempt].Endpoint
	}
	return nil
}

// confidenceOf returns the confidence of an answer, if it has one.
func confidenceOf(a *systemone.Answer) (float64, bool) {
	switch {
	case a.Refusal != "":
		return 0, false
	case a.Kind == systemone.Noul:
		return systemone.ChoiceConfidence([]float64{a.Noul, 1 - a.Noul}), true
	}
	return a.Confidence, len(a.Probabilities) > 0
}
