package router

import (
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Model is one decision model, whoever serves it.
type Model struct {
	ID        string   // "<author>/<name>", required
	Permaslug string   // the id with a dated suffix, required, e.g. acme/judge-20260901
	Name      string   // display name; default ID
	Aliases   []string // bare names such as judge-latest
	// Description, Created and ContextLength are for listings.
	Description   string
	Created       time.Time
	ContextLength int
	// Distillable says that the author allows text distillation; not stated is no.
	Distillable bool
}

// ProviderInfo is one upstream service as the catalog knows it.
type ProviderInfo struct {
	Slug   string   // base slug, required, e.g. acme
	Name   string   // display name; default Slug
	Client Provider // required, unless every endpoint of it is off
	// The URLs are for listings; "" is none.
	PrivacyPolicyURL, TermsURL, StatusPageURL string
}

// Endpoint is one model at one provider.
type Endpoint struct {
	ID            uuid.UUID // fixed for good; statistics and activity go by it
	Provider      string    // base slug
	Variant       string    // "" or e.g. eu-west
	Model         string    // a Model's ID
	UpstreamModel string    // the provider's name of it
	Pricing       Pricing
	Quantization  string   // "" is unknown
	ContextLength int      // largest state in tokens; 0 is no limit
	Parameters    []string // optional parameters that the upstream takes, today "user"; nil takes none
	CollectsData  bool
	ZDR           bool   // zero retention; implies no collection
	Group         string // vendor group of the ZDR switches; "" is the model author's
	Off           bool   // switched off by the operator
	Limits        EndpointLimits
	Tolerance     systemone.Tolerance
}

// EndpointLimits are what an endpoint can take. A zero number is no limit
// beyond the route's own.
type EndpointLimits struct {
	Questions, Options, Levels int
	Concurrency                int  // attempts in flight
	NoNulls                    bool // takes no null guidance
	Parts                      bool // takes a state made of parts as it is
}

// Catalog is an immutable snapshot of models, providers and endpoints. It is
// safe for concurrent use.
type Catalog struct {
	models    []*Model
	providers []*ProviderInfo
	endpoints []*Endpoint
}
