package router

import (
	"encoding/json"
	"slices"
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
	// Description, Categories, Created and ContextLength are for listings.
	Description   string
	Categories    []string // use cases, e.g. finance; GET /models filters by them
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
	// NoOwnCredentials says that callers' own credentials cannot work here, as
	// where the provider takes or checks none, or where its address names the
	// operator's account. No attempt is made with one, which would count as
	// paid by the caller.
	NoOwnCredentials bool
	// The URLs are for listings; "" is none.
	PrivacyPolicyURL, TermsURL, StatusPageURL string
}

// Endpoint is one model at one provider.
type Endpoint struct {
	ID            uuid.UUID // fixed for good; statistics and activity go by it
	Provider      string    // base slug
	Variant       string    // "" or e.g. eu-west
	Model         string    // a Model's ID
	UpstreamModel string    // the provider's name of it; default Model
	Pricing       Pricing
	Quantization  string   // "" is unknown
	ContextLength int      // largest state in tokens; 0 is no limit
	Parameters    []string // optional parameters that the upstream takes, today "user"; nil takes none
	CollectsData  bool
	ZDR           bool   // zero retention; implies no collection
	Group         string // vendor group of the ZDR switches; "" is the model author's
	Off           bool   // switched off by the operator
	// LastResort puts the endpoint behind all other endpoints of its own model and
	// of the models that a request names before it, and before those of the models
	// that it names after it, whatever the request's preferences say. It is asked
	// outside [Config.MaxAttempts], time is kept for it, and a session is not pinned
	// to it.
	LastResort bool
	// AttemptTimeout is the most time that one attempt gets here; 0 is the router's.
	AttemptTimeout time.Duration
	Limits         EndpointLimits
	Tolerance      systemone.Tolerance
	Counting       Counting

	model *Model // in a catalog
}

// EndpointLimits are what an endpoint can take. A zero number is no limit
// beyond the route's own.
type EndpointLimits struct {
	Questions, Options, Levels int
	Concurrency                int  // attempts in flight
	NoNulls                    bool // takes no null at all, not even an option without guidance
	// OptionNullsOnly says that an option may lack guidance, and nothing else
	// may be null: a level, instructions, the state, one side of a noul.
	OptionNullsOnly bool
	Parts           bool // takes a state made of parts as it is
}

// Catalog is an immutable snapshot of models, providers and endpoints. It is
// safe for concurrent use. What its methods return must not be changed.
type Catalog struct {
	models    []*Model
	providers []*ProviderInfo
	endpoints []*Endpoint

	modelNames map[string][]int32 // folded name → models that it may mean
	byModel    map[*Model]int32
	specs      []spec                   // of all endpoints, by model and slug with variant
	inSpecs    []*Endpoint              // in the order of the specs, for who needs no more of one
	served     []span                   // by model: its endpoints in specs
	byID       map[uuid.UUID]int32      // of an endpoint, in specs
	targets    map[string]int32         // folded provider name → what it means
	nTargets   int                      // all that names can mean
	bySlug     map[string]*ProviderInfo // as given
	lasts      bool                     // some endpoint is a last resort
	planners   planners
}

// spec is what a plan needs of an endpoint, made ready once: plans read all of
// them, so they stand together and follow no pointer.
type spec struct {
	endpoint           *Endpoint
	model              *Model
	fee                amount // of a request
	prompt, completion uint64 // nano-dollars per million tokens
	index              int32  // in the catalog's endpoints
	// What a provider's name may mean has a number: all of a provider has its
	// index in the catalog's providers, a slug with variant one behind these.
	provider, tag int32
	traits        traits
}

type span struct{ from, to int32 }

// specByID is where in the specs an endpoint stands, or nowhere.
func (c *Catalog) specByID(id uuid.UUID) int32 {
	if i, ok := c.byID[id]; ok {
		return i
	}
	return nowhere
}

const nowhere = -1

// endpointSpace is the namespace of the ids that endpoints get when none is
// given; it must never change.
const endpointSpace = "https://github.com/signalbox/signalbox/endpoint/"

// NewCatalog makes a catalog of copies of what it is given. The first mistake
// found is an error that names its place and wraps [ErrConfig]: a missing or
// malformed id or slug, a name given twice, an endpoint of an unknown model or
// provider, a price that is negative or no amount, a negative limit, an unknown
// quantization, parameter or group, an endpoint that claims zero retention and
// collects data, a provider without a client although one of its endpoints is
// switched on, or with a nil pointer, map, function or channel for a client.
//
// An endpoint without an ID gets a fixed one, made of its provider, variant
// and model.
func NewCatalog(models []Model, providers []ProviderInfo, endpoints []Endpoint) (*Catalog, error) {
	c := &Catalog{}
	if err := c.addModels(models); err != nil {
		return nil, err
	}
	if err := c.addProviders(providers); err != nil {
		return nil, err
	}
	if err := c.addEndpoints(endpoints); err != nil {
		return nil, err
	}
	return c, nil
}

// Single returns a catalog of one endpoint at one provider, for tests and small
// programs. Model and provider are made from the endpoint: the model's ID is the
// endpoint's Model, also in place of a dated id, and the provider's slug its
// Provider. Mistakes are those of [NewCatalog].
func Single(provider Provider, e Endpoint) (*Catalog, error) {
	return NewCatalog(
		[]Model{{ID: e.Model, Permaslug: e.Model}},
		[]ProviderInfo{{Slug: e.Provider, Client: provider}},
		[]Endpoint{e},
	)
}

// Models returns all models in the order given.
func (c *Catalog) Models() []*Model { return slices.Clone(c.models) }

// Providers returns all providers in the order given.
func (c *Catalog) Providers() []*ProviderInfo { return slices.Clone(c.providers) }

// Endpoints returns all endpoints in the order given, which is the order of
// [PlanInput.Stats].
func (c *Catalog) Endpoints() []*Endpoint { return slices.Clone(c.endpoints) }

// EndpointsOf returns the endpoints of a model of this catalog by slug with
// variant in byte order.
func (c *Catalog) EndpointsOf(m *Model) []*Endpoint {
	i, ok := c.byModel[m]
	if !ok {
		return nil
	}
	var list []*Endpoint
	for j := c.served[i].from; j < c.served[i].to; j++ {
		list = append(list, c.specs[j].endpoint)
	}
	return list
}

// Provider returns the provider with a base slug; case does not matter. It is
// nil where there is none.
func (c *Catalog) Provider(slug string) *ProviderInfo { return c.bySlug[fold(slug)] }

// Model returns the model that a name without a suffix means, as in
// [Catalog.Resolve]. It is nil where there is none or more than one.
func (c *Catalog) Model(name string) *Model {
	if found := c.named(name); len(found) == 1 {
		return c.models[found[0]]
	}
	return nil
}

// Tag is the provider's slug, with "/" and the variant where there is one.
func (e *Endpoint) Tag() string {
	if e.Variant == "" {
		return e.Provider
	}
	return e.Provider + "/" + e.Variant
}

// Options picks the options of a request that go to an endpoint: those for
// exactly its slug with variant, else those for its provider, by slug or
// display name; of several the first. Case does not matter. It is nil where
// there are none. Two entries are never merged.
func (c *Catalog) Options(p *systemone.Preferences, e *Endpoint) json.RawMessage {
	if p == nil {
		return nil
	}
	var options json.RawMessage
	exact := fold(e.Tag())
	for _, o := range p.Options {
		name := fold(o.Provider)
		if name == exact {
			return o.Options
		}
		t, known := c.targets[name]
		if options == nil && known && int(t) < len(c.providers) && c.providers[t].Slug == e.Provider {
			options = o.Options
		}
	}
	return options
}
