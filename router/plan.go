package router

import (
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Source says where a rule came from.
type Source string

// Every source of a rule.
const (
	SourceRequest   Source = "request"
	SourceAccount   Source = "account"
	SourceWorkspace Source = "workspace"
	SourceMember    Source = "member"
	SourceKey       Source = "key"
)

// Rule is what a policy allows. Rules only ever narrow: an endpoint must match
// every allow-list and no ignore-list. A nil list is no rule; an empty
// allow-list allows nothing.
type Rule struct {
	Source                             Source
	AllowedModels, IgnoredModels       []string // ids, dated ids or aliases
	AllowedProviders, IgnoredProviders []string // slugs, with or without variant, or display names
	ZDR                                bool     // zero retention for everything
	ZDRGroups                          []string // zero retention for these vendor groups
	NoPaidTraining, NoFreeTraining     bool     // no priced, no free endpoints that collect data
	// Sort is the order of requests that have neither order nor a sort of
	// their own; it does not outrank a sticky session. The last one given counts.
	Sort systemone.SortBy
}

// Shape is what routing needs to know of a request's size.
type Shape struct {
	Questions, Options, Levels     int // Options and Levels are the largest of any question
	Nulls                          bool
	StateTokens                    int64 // estimate
	PromptTokens, CompletionTokens int64 // estimate, for prices
	Parameters                     []string
}

// Percentiles of a figure over the last five minutes. Known is false with too
// little data.
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
	Pinned      []uuid.UUID // by the index of Models: the endpoint of the sticky session, or uuid.Nil; nil pins nothing
	Now         time.Time
	Seed        uint64
}

// ModelRef is a model that a request asks for.
type ModelRef struct {
	Model *Model
	Sort  systemone.SortBy // from a suffix such as :floor, or ""
}

// Plan says in which order endpoints are tried, and why each one stands where
// it stands or does not stand at all.
type Plan struct {
	Seed       uint64
	Strategy   string
	Candidates []Candidate // in the order of attempts
	Excluded   []Exclusion // in the order of the catalog
	// ExcludedBy lists every reason that removed an endpoint, in filter order.
	ExcludedBy []string
}

// Candidate is an endpoint that may be tried.
type Candidate struct {
	Endpoint *Endpoint
	Model    *Model
	Tier     Tier
	Reason   Reason  // why it stands where it stands
	Weight   float64 // its probability in the draw for the first place, 0 outside it
}

// Tier is how an endpoint meets the performance cutoffs.
type Tier uint8

// The tiers, best first.
const (
	TierMeets Tier = iota
	TierUnknown
	TierMisses
)

// Reason says what put a candidate in its place.
type Reason string

// Every reason.
const (
	ReasonOrder  Reason = "order"
	ReasonSort   Reason = "sort"
	ReasonPinned Reason = "pinned"
	ReasonDrawn  Reason = "drawn"
	ReasonPrice  Reason = "price"
	ReasonOutage Reason = "outage"
)

// Exclusion is an endpoint that may not be tried.
type Exclusion struct {
	Endpoint *Endpoint
	Reason   string // e.g. max_price
	Detail   string // e.g. max_price.completion; "" adds nothing
	Source   Source
}
