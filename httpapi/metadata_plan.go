package httpapi

import (
	"slices"

	"github.com/signalbox/signalbox/router"
)

// metadataEndpoint lists every endpoint of the models of a plan: available or excluded.
type metadataEndpoint struct {
	Total     int                 `json:"total"`
	Available []metadataCandidate `json:"available"` // in the order of attempts
	Excluded  []metadataExclusion `json:"excluded"`
}

type metadataCandidate struct {
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
	Selected bool          `json:"selected"` // this endpoint answered
	Endpoint string        `json:"endpoint"` // slug with variant
	IsBYOK   bool          `json:"is_byok"`  // the credential is the caller's own
	Tier     string        `json:"tier"`
	Reason   router.Reason `json:"reason"`
	Skipped  string        `json:"skipped,omitempty"` // why it was not tried
	// DrawWeight is the probability of being drawn for the first place.
	DrawWeight float64 `json:"draw_weight"`
	// For a dry run: the greatest possible charge, and the limit that would refuse it.
	MaxCost   *router.USD   `json:"max_cost,omitempty"`
	RefusedBy *router.Check `json:"refused_by,omitempty"`
}

type metadataExclusion struct {
	Provider string        `json:"provider"`
	Model    string        `json:"model"`
	Endpoint string        `json:"endpoint"`
	Reason   router.Filter `json:"reason"`
	Detail   router.Detail `json:"detail,omitempty"`
	Source   router.Source `json:"source,omitempty"`
}

// describePlan describes the plan of a leg. Only an answered call has an endpoint that
// is selected.
func (s *server) describePlan(l *router.Leg, answered bool) metadataEndpoint {
	plan := &l.Plan
	m := metadataEndpoint{
		Total:     endpoints(plan),
		Available: make([]metadataCandidate, 0, len(plan.Candidates)),
		Excluded:  make([]metadataExclusion, 0, len(plan.Excluded)),
	}
	var by router.Candidate
	switch {
	case !answered || !l.Answered():
	case l.Remembered != nil:
		by = *l.Remembered
	default:
		last := &l.Attempts[len(l.Attempts)-1]
		by.Endpoint, by.Credential = last.Endpoint, last.Credential
	}
	for _, c := range plan.Candidates {
		m.Available = append(m.Available, metadataCandidate{
			Provider: s.providerName(c.Endpoint.Provider), Model: c.Model().Permaslug, Endpoint: c.Endpoint.Tag(),
			Selected: c.Endpoint == by.Endpoint && c.Credential == by.Credential,
			IsBYOK:   c.Credential != nil, Tier: c.Tier.String(), Reason: c.Reason, DrawWeight: c.Weight,
			Skipped: skipped(l, &c),
		})
	}
	for i, b := range l.Bounds {
		m.Available[i].MaxCost = &b.Max.Credit
		if b.Refused != nil {
			m.Available[i].RefusedBy = &b.Refused.Check
		}
	}
	for _, e := range plan.Excluded {
		m.Excluded = append(m.Excluded, metadataExclusion{
			Provider: s.providerName(e.Endpoint.Provider), Model: s.permaslug(e.Endpoint.Model), Endpoint: e.Endpoint.Tag(),
			Reason: e.Reason, Detail: e.Detail, Source: e.Source,
		})
	}
	return m
}

// endpoints returns the number of endpoints in a plan. With own credentials one
// endpoint makes several candidates.
func endpoints(p *router.Plan) int {
	if !slices.ContainsFunc(p.Candidates, func(c router.Candidate) bool { return c.Credential != nil }) {
		return len(p.Candidates) + len(p.Excluded)
	}
	seen := make(map[*router.Endpoint]bool, len(p.Candidates))
	for _, c := range p.Candidates {
		seen[c.Endpoint] = true
	}
	return len(seen) + len(p.Excluded)
}

// skipped returns why a candidate was not tried, or "" if it was.
func skipped(l *router.Leg, c *router.Candidate) string {
	for _, s := range l.Skipped {
		if s.Endpoint == c.Endpoint && s.Credential == c.Credential {
			return s.String()
		}
	}
	return ""
}
