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
	// Legs are the question sheets of the call. Endpoints above is the plan of the
	// first.
	Legs []metadataLeg `json:"legs"`
	// Answers say by question who gave the answer; absent on errors and dry runs.
	Answers map[string]metadataAnswer `json:"answers,omitempty"`
	// Stopped says why no further candidate was tried; "" if one answered.
	Stopped router.Stop `json:"stopped,omitempty"`
	// Seed reproduces the random draws of the plan. It is text because a JavaScript
	// number cannot represent every uint64.
	Seed string `json:"seed"`
	// UsageEstimated says that at least a part of the reply's usage, and so of its
	// cost, is an estimate of the router.
	UsageEstimated bool `json:"usage_estimated,omitempty"`
	// Warnings name the entries of the request's provider lists that the catalog does
	// not know, and calibrations that are not in force.
	Warnings []systemone.Issue `json:"warnings,omitempty"`
}

type metadataTry struct {
	Provider  string       `json:"provider"`
	Model     string       `json:"model"`
	Status    int          `json:"status"`
	Endpoint  string       `json:"endpoint"`
	IsBYOK    bool         `json:"is_byok"`
	ErrorType router.Class `json:"error_type,omitempty"`
	LatencyMS int64        `json:"latency_ms"`
	// Cost is what the caller is charged for the attempt, in USD; absent if nothing is
	// charged.
	Cost *router.USD `json:"cost,omitempty"`
	// UpstreamCost is the list price of an attempt that is not charged; absent if 0.
	UpstreamCost *router.USD `json:"upstream_cost,omitempty"`
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
// dry run. Requests that ask for no decision have none. res is nil if the call was not
// answered.
func (x *exchange) appendMetadata(dst []byte, res *router.Result) []byte {
	if x.call == nil || x.call.Report.Replayed || !x.call.DryRun && !wantsMetadata(x.r.Header[x.s.metadataHeader]) {
		return dst
	}
	dst = append(append(append(dst, `,"`...), x.s.metadataMember...), `":`...)
	m := x.s.describe(&x.call.Report, res)
	m.Warnings = append(x.unknownProviders(), x.calibrations()...)
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
func (s *server) describe(r *router.Report, res *router.Result) metadataObject {
	first := &router.Leg{}
	if len(r.Legs) > 0 {
		first = r.Legs[0]
	}
	m := metadataObject{
		Requested: r.Requested,
		Strategy:  first.Plan.Strategy,
		Endpoints: s.describePlan(first, res != nil),
		Attempts:  []metadataTry{},
		Pipeline:  make([]metadataStage, 0, len(r.Pipeline)),
		Stopped:   r.Stopped,
		Seed:      strconv.FormatUint(first.Plan.Seed, 10),
	}
	if m.Strategy == "" {
		m.Strategy = "direct" // the router made no plan
	}
	for _, l := range r.Legs {
		for i := range l.Attempts {
			m.Attempts = append(m.Attempts, s.describeAttempt(l, &l.Attempts[i]))
			m.UsageEstimated = m.UsageEstimated || l.Attempts[i].UsageEstimated
		}
	}
	m.Attempt = len(m.Attempts)
	s.describeLegs(&m, r, res != nil)
	if res != nil {
		by := answering(r, res.Endpoint)
		m.IsBYOK = by != nil && by.Credential != nil
		describeAnswers(&m, r, res.Response.Answers)
	}
	for _, p := range r.Pipeline {
		m.Pipeline = append(m.Pipeline, describeStage(p))
	}
	m.Summary = s.summary(&m, res)
	return m
}

// answering returns the first attempt that the endpoint answered, or nil.
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
func (s *server) describeAttempt(l *router.Leg, a *router.AttemptRecord) metadataTry {
	t := metadataTry{
		Provider: s.providerName(a.Endpoint.Provider), Model: s.permaslug(a.Endpoint.Model), Endpoint: a.Endpoint.Tag(),
		IsBYOK: a.Credential != nil, Status: a.Status, ErrorType: a.Class, LatencyMS: a.Duration.Milliseconds(),
		UsageEstimated: a.UsageEstimated,
	}
	if a.Billed {
		t.Cost = &a.Cost
	} else if a.UpstreamCost > 0 {
		t.UpstreamCost = &a.UpstreamCost
	}
	if t.Status == 0 && a.Class != "" {
		t.Status = problemOf(&router.Error{Class: a.Class}).status
	}
	var asked []string // of a split request, whose parts have names that the caller does not know
	if l.Reason == router.LegSplit {
		asked = l.Asked()
	}
	for _, answer := range a.Answers {
		none := answer.Probabilities == nil && answer.Confidence == 0
		if answer.Kind == systemone.Noul || none || math.IsNaN(answer.Confidence) || math.IsInf(answer.Confidence, 0) {
			continue
		}
		if asked != nil && !slices.Contains(asked, answer.Name) {
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
func (s *server) summary(m *metadataObject, res *router.Result) string {
	line := fmt.Sprintf("available=%d, excluded=%d, attempts=%d", len(m.Endpoints.Available), len(m.Endpoints.Excluded), len(m.Attempts))
	if len(m.Legs) > 1 {
		line += fmt.Sprintf(", legs=%d", len(m.Legs))
	}
	if res == nil || res.Endpoint == nil {
		return line
	}
	return line + ", selected=" + s.providerName(res.Endpoint.Provider)
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
