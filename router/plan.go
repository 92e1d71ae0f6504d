package router

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Rule is what a policy allows. Rules only ever narrow: an endpoint must match
// every allow-list and no ignore-list. A nil list is no rule; an empty
// allow-list allows nothing.
type Rule struct {
	Source                             Source
	AllowedModels, IgnoredModels       []string // ids, dated ids or aliases
	AllowedProviders, IgnoredProviders []string // slugs, with or without variant, or display names
	ZDR                                bool     // zero retention for everything
	// ZDRGroups asks zero retention of vendor groups: anthropic, openai, google,
	// xai, other. Any other word is taken for all of them.
	ZDRGroups                      []string
	NoPaidTraining, NoFreeTraining bool // no priced, no free endpoints that collect data
	// Sort is the order of requests that have neither order nor a sort of
	// their own; it does not outrank a sticky session. The last one given counts.
	Sort systemone.SortBy
}

// Percentiles of a figure over the last five minutes, or, in [Health], over the
// last thirty. Known is false with too little data.
type Percentiles struct {
	Known              bool
	P50, P75, P90, P99 float64
}

// Stats is what is known of one endpoint at one instant. The zero value is an
// endpoint never used.
type Stats struct {
	Outage          bool
	Latency         Percentiles // seconds
	Throughput      Percentiles // tokens per second; P90 is what 90 % of replies reach
	Passed, Checked int64       // replies of the last day that passed the check, that were checked
}

// PlanInput is everything that a plan is a function of.
type PlanInput struct {
	Catalog     *Catalog   // required
	Models      []ModelRef // resolved, at least one
	Shape       Shape
	Preferences *systemone.Preferences // nil asks for nothing
	Policy      []Rule
	Stats       []Stats     // by the index of the catalog's endpoints; nil knows nothing
	NoUser      bool        // the user goes to nobody, so no endpoint counts as taking it
	Pinned      []uuid.UUID // by the index of Models: the endpoint of the sticky session, or uuid.Nil; nil pins nothing
	// Credentials are the caller's own, oldest first, among them those for
	// other models and providers. One without a secret is for nothing. The plan
	// points into the slice: it must not be changed.
	Credentials []Credential
	Now         time.Time
	Seed        uint64
}

// Plan says in which order endpoints are tried, and why each one stands where
// it stands or does not stand at all. Every endpoint of the models asked for is
// in Candidates or in Excluded. It is excluded once; it is a candidate once with
// the operator's credential and once more with each that the caller has for it,
// except that a request without fallbacks leaves one candidate in all.
type Plan struct {
	Seed uint64
	// Strategy is what put the first candidate in its place: "order",
	// "sort:price" (or throughput, latency, exacto), "sticky" or
	// "load-balancing".
	Strategy   string
	Candidates []Candidate // in the order of attempts
	Excluded   []Exclusion // by place of the model asked for, then by slug with variant
	// ExcludedBy lists every filter that removed an endpoint, in their order,
	// but FilterFallbacks.
	ExcludedBy []Filter
}

// Candidate is an endpoint that may be tried, with the credential to use.
type Candidate struct {
	Endpoint *Endpoint
	// Credential is the caller's own that the endpoint is called with; nil for
	// the operator's.
	Credential *Credential
	Weight     float64 // its probability in the draw for the first place, 0 outside it
	Tier       Tier
	Reason     Reason // why it stands where it stands
	// Price is what the request is expected to cost here, at the token counts of
	// [PlanInput.Shape], rounded to the nearest nano-dollar. Load balancing and a sort
	// by price compare it before it is rounded.
	Price USD
	// Stats is what the plan knew of the endpoint: a sort by another figure compared
	// the P50 of its latency or throughput, or its share of passed checks; cutoffs
	// compared its percentiles. It is never nil, points into [PlanInput.Stats], and
	// must not be changed.
	Stats *Stats
}

// Model is the endpoint's model in the plan's catalog.
func (c Candidate) Model() *Model { return c.Endpoint.model }

// Tier is how an endpoint meets the performance cutoffs.
type Tier uint8

// The tiers, best first.
const (
	TierMeets Tier = iota
	TierUnknown
	TierMisses
)

// String says meets, unknown or misses.
func (t Tier) String() string {
	switch t {
	case TierMeets:
		return "meets"
	case TierMisses:
		return "misses"
	case TierUnknown:
	}
	return "unknown"
}

// MarshalText returns what String does.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Reason says what put a candidate in its place.
type Reason uint8

// Every reason.
const (
	ReasonPrice  Reason = iota // by price
	ReasonOrder                // named in the request's order
	ReasonSort                 // by a sort, unknown figures last
	ReasonPinned               // the endpoint of the sticky session
	ReasonDrawn                // won the draw for the first place
	ReasonOutage               // behind the sound ones, by price
	// ReasonOwn is a credential of the caller's, which goes before the shared
	// endpoints, and ReasonOwnFallback one that goes behind them. Among
	// themselves they stand as shared ones do, only that an outage holds none
	// back. One that was pinned or drawn has that for its reason.
	ReasonOwn
	ReasonOwnFallback
	// ReasonLastResort is an endpoint that stands behind the others of its model
	// ([Endpoint.LastResort]), whatever put it in its place among last resorts.
	ReasonLastResort
)

// String returns the reason in a word: price, order, sort, pinned, drawn,
// outage, own, own_fallback or last_resort.
func (r Reason) String() string {
	words := [...]string{"price", "order", "sort", "pinned", "drawn", "outage", "own", "own_fallback", "last_resort"}
	return words[min(int(r), len(words)-1)]
}

// MarshalText returns the word, also for JSON and slog.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Exclusion is an endpoint that may not be tried.
type Exclusion struct {
	Endpoint *Endpoint
	Reason   Filter // the first that removed it
	Detail   Detail // of the reason, where it has any
	Source   Source // of the rule; zero for what the endpoint itself cannot do
}

// NewPlan filters and orders the endpoints of the models asked for. It is a
// pure function: the same input gives the same plan, on every machine and in
// every release; the draw for the first place takes one number of math/rand/v2's
// PCG, seeded with Seed and 0. It is safe for concurrent use.
func NewPlan(in PlanInput) Plan {
	if in.Catalog == nil {
		return Plan{Seed: in.Seed, Strategy: strategyBalance}
	}
	p := in.Catalog.planners.get()
	p.start(in)
	p.gather()
	p.addOwn()
	p.place()
	p.draw()
	plan := p.plan()
	in.Catalog.planners.put(p)
	return plan
}

// Err is nil while there are candidates. Otherwise it is an [*Error]:
// [NoCapacity] where an endpoint was removed only because the operator switched
// it off, else [NotFound] for the models as the request named them.
func (p Plan) Err(requested []string) error {
	if len(p.Candidates) > 0 {
		return nil
	}
	if slices.Contains(p.ExcludedBy, FilterOffline) {
		return &Error{Class: NoCapacity}
	}
	words := make([]string, len(p.ExcludedBy))
	for i, f := range p.ExcludedBy {
		words[i] = f.String()
	}
	return &Error{
		Class:      NotFound,
		Message:    "No endpoints found for " + strings.Join(requested, ", "),
		ExcludedBy: words,
	}
}
