package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/systemone"
)

// metadataObject describes the routing to a caller who asks for it. Clients in the
// field know the first nine members; of these only region may be null.
type metadataObject struct {
	Region    *string          `json:"region"`
	Requested string           `json:"requested"`
	Strategy  string           `json:"strategy"`
	Summary   string           `json:"summary"`
	Attempt   int              `json:"attempt"`
	IsBYOK    bool             `json:"is_byok"`
	Endpoints metadataEndpoint `json:"endpoints"`
	Attempts  []metadataTry    `json:"attempts"`
	Pipeline  []metadataStage  `json:"pipeline"`
	// Stopped says why no further candidate was tried; "" if one answered.
	Stopped router.Stop `json:"stopped,omitempty"`
	// Seed reproduces the random draws of the plan. It is text because a JavaScript
	// number cannot represent every uint64.
	Seed string `json:"seed"`
	// UsageEstimated says that at least a part of the reply's usage, and so of its
	// cost, is an estimate of the router.
	UsageEstimated bool `json:"usage_estimated,omitempty"`
	// Warnings name the entries of the request's provider lists that the catalog does
	// not know.
	Warnings []systemone.Issue `json:"warnings,omitempty"`
}

// metadataEndpoint lists every endpoint of the requested models: available or excluded.
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

type metadataTry struct {
	Provider  string       `json:"provider"`
	Model     string       `json:"model"`
	Status    int          `json:"status"`
	Endpoint  string       `json:"endpoint"`
	IsBYOK    bool         `json:"is_byok"`
	ErrorType router.Class `json:"error_type,omitempty"`
	LatencyMS int64        `json:"latency_ms"`
	// UsageEstimated says that the upstream reported no usage or only a part.
	UsageEstimated bool `json:"usage_estimated,omitempty"`
	// UpstreamConfidence has the confidence that the upstream reported, by question.
	// The confidence in the answers is computed from the probabilities.
	UpstreamConfidence map[string]float64 `json:"upstream_confidence,omitempty"`
}

type metadataStage struct {
	Type           string          `json:"type"`
	Name           string          `json:"name"`
	Summary        string          `json:"summary,omitempty"`
	Data           json.RawMessage `json:"data,omitempty"`
	GuardrailID    string          `json:"guardrail_id,omitempty"`
	GuardrailScope string          `json:"guardrail_scope,omitempty"`
}

// appendMetadata appends ,"router_metadata":{…} if the caller asked for it, or for a
// dry run. Requests that ask for no decision have none. answered is the endpoint that
// answered, or nil.
func (x *exchange) appendMetadata(dst []byte, answered *router.Endpoint) []byte {
	if x.call == nil || x.call.Report.Replayed || !x.call.DryRun && !wantsMetadata(x.r.Header[x.s.metadataHeader]) {
		return dst
	}
	dst = append(append(append(dst, `,"`...), x.s.metadataMember...), `":`...)
	m := x.s.describe(&x.call.Report, answered)
	m.Warnings = x.unknownProviders()
	return appendJSON(dst, m)
}

// wantsMetadata reports whether the caller asked for the metadata.
func wantsMetadata(values []string) bool {
	for _, v := range values {
		if strings.EqualFold(strings.TrimSpace(v), "enabled") {
			return true
		}
	}
	return false
}

// describe turns a report into the metadata of a reply.
func (s *server) describe(r *router.Report, answered *router.Endpoint) metadataObject {
	first := &router.Leg{}
	if len(r.Legs) > 0 {
		first = r.Legs[0]
	}
	plan := &first.Plan
	m := metadataObject{
		Requested: r.Requested,
		Strategy:  plan.Strategy,
		Endpoints: metadataEndpoint{
			Total:     endpoints(plan),
			Available: make([]metadataCandidate, 0, len(plan.Candidates)),
			Excluded:  make([]metadataExclusion, 0, len(plan.Excluded)),
		},
		Attempts: []metadataTry{},
		Pipeline: make([]metadataStage, 0, len(r.Pipeline)),
		Seed:     strconv.FormatUint(plan.Seed, 10),
	}
	if m.Strategy == "" {
		m.Strategy = "direct" // the router made no plan
	}
	m.Stopped = r.Stopped
	by := answering(r, answered)
	m.IsBYOK = by != nil && by.Credential != nil
	for _, c := range plan.Candidates {
		m.Endpoints.Available = append(m.Endpoints.Available, metadataCandidate{
			Provider: s.providerName(c.Endpoint.Provider), Model: c.Model().Permaslug, Endpoint: c.Endpoint.Tag(),
			Selected: by != nil && c.Endpoint == by.Endpoint && c.Credential == by.Credential,
			IsBYOK:   c.Credential != nil, Tier: c.Tier.String(), Reason: c.Reason, DrawWeight: c.Weight,
			Skipped: skipped(first, &c),
		})
	}
	for i, b := range first.Bounds {
		m.Endpoints.Available[i].MaxCost = &b.Max.Credit
		if b.Refused != nil {
			m.Endpoints.Available[i].RefusedBy = &b.Refused.Check
		}
	}
	for _, e := range plan.Excluded {
		m.Endpoints.Excluded = append(m.Endpoints.Excluded, metadataExclusion{
			Provider: s.providerName(e.Endpoint.Provider), Model: s.permaslug(e.Endpoint.Model), Endpoint: e.Endpoint.Tag(),
			Reason: e.Reason, Detail: e.Detail, Source: e.Source,
		})
	}
	for a := range r.Attempts() {
		m.Attempts = append(m.Attempts, s.describeAttempt(a))
		m.UsageEstimated = m.UsageEstimated || a.UsageEstimated
	}
	m.Attempt = len(m.Attempts)
	for _, p := range r.Pipeline {
		m.Pipeline = append(m.Pipeline, describeStage(p))
	}
	m.Summary = s.summary(&m, answered)
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

// answering returns the attempt that answered, or nil.
func answering(r *router.Report, answered *router.Endpoint) *router.AttemptRecord {
	for a := range r.Attempts() {
		if a.Class == "" && a.Endpoint == answered {
			return a
		}
	}
	return nil
}

// describeAttempt always sets the status, because clients refuse the whole object
// without it. An attempt without a reply has the status of its class.
func (s *server) describeAttempt(a *router.AttemptRecord) metadataTry {
	t := metadataTry{
		Provider: s.providerName(a.Endpoint.Provider), Model: s.permaslug(a.Endpoint.Model), Endpoint: a.Endpoint.Tag(),
		IsBYOK: a.Credential != nil, Status: a.Status, ErrorType: a.Class, LatencyMS: a.Duration.Milliseconds(),
		UsageEstimated: a.UsageEstimated,
	}
	if t.Status == 0 && a.Class != "" {
		t.Status = problemOf(&router.Error{Class: a.Class}).status
	}
	for _, answer := range a.Answers {
		none := answer.Probabilities == nil && answer.Confidence == 0
		if answer.Kind == systemone.Noul || none || math.IsNaN(answer.Confidence) || math.IsInf(answer.Confidence, 0) {
			continue
		}
		if t.UpstreamConfidence == nil {
			t.UpstreamConfidence = map[string]float64{}
		}
		t.UpstreamConfidence[answer.Name] = answer.Confidence
	}
	return t
}

// describeStage omits data that cannot be encoded as JSON.
func describeStage(p router.Step) metadataStage {
	stage := metadataStage{Type: p.Type, Name: p.Name, Summary: p.Summary, GuardrailScope: p.GuardrailScope}
	if data, err := json.Marshal(p.Data); err == nil && p.Data != nil {
		stage.Data = data
	}
	if p.GuardrailID != nil {
		stage.GuardrailID = p.GuardrailID.String()
	}
	return stage
}

// summary returns one line for people to read.
func (s *server) summary(m *metadataObject, answered *router.Endpoint) string {
	line := fmt.Sprintf("available=%d, excluded=%d, attempts=%d", len(m.Endpoints.Available), len(m.Endpoints.Excluded), len(m.Attempts))
	if answered == nil {
		return line
	}
	return line + ", selected=" + s.providerName(answered.Provider)
}

// providerName returns the display name of a slug. It returns the slug itself if a
// newer catalog no longer has the provider.
func (s *server) providerName(slug string) string {
	if p := s.Router.Catalog().Provider(slug); p != nil {
		return p.Name
	}
	return slug
}

// permaslug returns the dated name of a model.
func (s *server) permaslug(id string) string {
	if m := s.Router.Catalog().Model(id); m != nil {
		return m.Permaslug
	}
	return id
}
