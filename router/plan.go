package router

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Rule is what a policy allows. A rule only narrows: an endpoint must match every
// allow-list and no ignore-list. A nil list is no restriction; an empty allow-list
// allows nothing. The zero value restricts nothing.
type Rule struct {
	Source                             Source
	AllowedModels, IgnoredModels       []string // ids, dated ids or aliases
	AllowedProviders, IgnoredProviders []string // slugs, with or without variant, or display names
	ZDR                                bool     // zero retention for everything
	// ZDRGroups requires zero retention of endpoints of these vendor groups:
	// anthropic, openai, google, xai, other. Any other word means all groups.
	ZDRGroups                      []string
	NoPaidTraining, NoFreeTraining bool // no priced, no free endpoints that collect data
	// Sort is the order for requests that have neither order nor a sort of their
	// own. A sticky session comes before it. Of several rules the last sort counts.
	Sort systemone.SortBy
}

// Percentiles of a figure over the last five minutes, or, in [Health], over the
// last thirty. Known is false with fewer than ten successes.
type Percentiles struct {
	Known              bool
	P50, P75, P90, P99 float64
}

// Stats is what is known of one endpoint at one instant. The zero value is an
// endpoint that was never used.
type Stats struct {
	Outage          bool
	Latency         Percentiles // seconds
	Throughput      Percentiles // tokens per second; P90 is what 90 % of replies reach
	Passed, Checked int64       // counts of replies of the last day: passed, out of those checked
}

// PlanInput is the whole input of [NewPlan].
type PlanInput struct {
	Catalog     *Catalog   // required
	Models      []ModelRef // resolved, at least one
	Shape       Shape
	Preferences *systemone.Preferences // nil prefers nothing
	Policy      []Rule
	Stats       []Stats     // by the index of the catalog's endpoints; nil is no statistics
	NoUser      bool        // no provider gets the user, so no endpoint counts as taking it
	Pinned      []uuid.UUID // by the index of Models: the endpoint of the sticky session, or uuid.Nil; nil pins nothing
	// Credentials are the caller's own, oldest first. They may include those for
	// other models and providers, and those without a secret are not used. The plan
	// points into the slice, which must not be changed.
	Credentials []Credential
	Now         time.Time
	Seed        uint64
	// InParts keeps the endpoints that take too few questions at once, and those
	// that take too few options of a choice but round finely enough for a choice to
	// be asked in parts.
	InParts bool
}

// Plan is the order in which endpoints are tried, with a reason for each place and
// each exclusion. Every endpoint of the requested models is in Candidates or in
// Excluded. An excluded endpoint is listed once. Another is a candidate once with
// the operator's credential and once with each credential that the caller has for
// it. A request without fallbacks leaves one candidate in all.
type Plan struct {
	Seed uint64
	// Strategy is what put the first candidate in its place: "order", "sort:price"
	// (or throughput, latency, exacto), "sticky" or "load-balancing".
	Strategy   string
	Candidates []Candidate // in the order of attempts
	Excluded   []Exclusion // by place of the requested model, then by slug with variant
	// ExcludedBy lists every filter that removed an endpoint, in filter order,
	// except FilterFallbacks.
	ExcludedBy []Filter
}

// Candidate is an endpoint to try, with the credential to use.
type Candidate struct {
	Endpoint *Endpoint
	// Credential is the caller's own credential for the endpoint; nil is the
	// operator's.
	Credential *Credential
	Weight     float64 // its probability in the draw for the first place; 0 where it takes no part
	Tier       Tier
	Reason     Reason // what put it in its place
	// Price is what the request is expected to cost here, at the token counts of
	// [PlanInput.Shape], rounded to the nearest nano-dollar. Load balancing and a sort
	// by price compare it before it is rounded.
	Price USD
	// Stats is what the plan knew of the endpoint. Cutoffs compared its
	// percentiles; a sort by another figure than price compared the P50 of its
	// latency or throughput, or its share of passed checks. It is never nil, points
	// into [PlanInput.Stats], and must not be changed.
	Stats *Stats
}

// Model returns the endpoint's model in the plan's catalog.
func (c Candidate) Model() *Model { return c.Endpoint.model }

// Tier says whether an endpoint meets the request's performance cutoffs.
type Tier uint8

// The tiers, best first.
const (
	TierMeets Tier = iota
	TierUnknown
	TierMisses
)

// String returns meets, unknown or misses.
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

// MarshalText returns the word, also for JSON and slog.
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
	ReasonOutage               // in an outage: behind the others, by price
	// ReasonOwn is a candidate with the caller's own credential, ahead of the
	// shared endpoints. ReasonOwnFallback is one behind them. Among themselves they
	// are ordered like shared endpoints, except that an outage does not move them.
	// A pinned or drawn one has that reason instead.
	ReasonOwn
	ReasonOwnFallback
	// ReasonLastResort is an endpoint behind the others of its model
	// ([Endpoint.LastResort]), whatever its order among last resorts.
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

// Exclusion is an endpoint that is not tried, and why.
type Exclusion struct {
	Endpoint *Endpoint
	Reason   Filter // the first filter that removed it
	Detail   Detail // of the reason, where it has one
	Source   Source // of the rule; zero where the endpoint itself cannot serve the request
}

// NewPlan filters and orders the endpoints of the requested models. It is a pure
// function: the same input gives the same plan, on every machine and in every
// release. The draw for the first place takes one number of math/rand/v2's PCG,
// seeded with Seed and 0. It is safe for concurrent use.
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

// Err returns nil while there are candidates. Otherwise it returns an [*Error]:
// [NoCapacity] where some endpoint was removed only because the operator switched
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
