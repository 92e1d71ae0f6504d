package router

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/systemone"
)

// Model is one decision model, whichever providers serve it.
type Model struct {
	ID        string   // "<author>/<name>", required
	Permaslug string   // the id with a dated suffix, required, e.g. acme/judge-20260901
	Name      string   // display name; default ID
	Aliases   []string // further bare names, such as judge-latest
	// Description, Categories, Created and ContextLength are for listings.
	Description   string
	Categories    []string // use cases, e.g. finance; GET /models filters by them
	Created       time.Time
	ContextLength int
	// Distillable says that the author allows text distillation. The default is
	// that it is not allowed.
	Distillable bool
	// Stages are the entries that the model is made of, at least one. Such a model
	// has no endpoints: a request that names it asks its entries, as if they stood
	// in its place. An entry names another model of the catalog, without stages of
	// its own. Nil is a model with endpoints. The conditions must not be changed.
	Stages []systemone.Entry
	// MaxEscalated is the largest share of the calls for a model made of stages that
	// may ask a stage after the first, above 0 and at most 1; 0 is no limit. Counted
	// are the last 1,000 calls that a first stage answered, none older than ten
	// minutes. While the share is above it, first answers are kept ([KeptBudget]),
	// except where a question has no answer yet. Requests without fallbacks are not
	// counted.
	MaxEscalated float64

	stages []*Model // that Stages name, in a catalog
}

// ProviderInfo is one upstream service as the catalog knows it.
type ProviderInfo struct {
	Slug   string   // base slug, required, e.g. acme
	Name   string   // display name; default Slug
	Client Provider // required, unless every endpoint of the provider is off
	// NoOwnCredentials says that callers' own credentials cannot work at this
	// provider: it takes or checks none, or its address names the operator's
	// account. No attempt is made with one, because the attempt would wrongly count
	// as paid by the caller.
	NoOwnCredentials bool
	// The URLs are for listings; "" is none.
	PrivacyPolicyURL, TermsURL, StatusPageURL string
}

// Endpoint is one model at one provider.
type Endpoint struct {
	ID            uuid.UUID // permanent, because statistics and activity refer to it
	Provider      string    // base slug, required
	Variant       string    // "" or e.g. eu-west
	Model         string    // a Model's ID, "<author>/<name>", required
	UpstreamModel string    // the provider's name of the model; default Model
	Pricing       Pricing
	Quantization  string   // "" is unknown
	ContextLength int      // largest state in tokens; 0 is no limit
	Parameters    []string // optional parameters that the upstream takes, today "user"; nil takes none
	CollectsData  bool
	ZDR           bool   // zero retention; implies no collection
	Group         string // vendor group of the ZDR switches; "" is the model author's
	Off           bool   // switched off by the operator
	// LastResort puts the endpoint behind all other endpoints of its model,
	// whatever the request's preferences say. It stands behind the endpoints of
	// models that a request names before its own model, and ahead of those of
	// models named later. It does not count towards [Config.MaxAttempts], time is
	// reserved for it, and a session is never pinned to it.
	LastResort bool
	// AttemptTimeout is the longest time of one attempt here; 0 is
	// [Config.AttemptTimeout].
	AttemptTimeout time.Duration
	Limits         EndpointLimits
	Tolerance      systemone.Tolerance
	Counting       Counting

	model *Model // in a catalog
}

// EndpointLimits are what an endpoint can take. A number of zero is no limit.
type EndpointLimits struct {
	Questions, Options, Levels int
	Concurrency                int  // attempts in flight
	NoNulls                    bool // takes no null, not even as an option without guidance
	// OptionNullsOnly says that only an option's guidance may be null. A level,
	// instructions, the state and the sides of a noul may not.
	OptionNullsOnly bool
	Parts           bool // takes a state made of parts; otherwise the router unwraps the parts
}

// Catalog is an immutable snapshot of models, providers and endpoints. [NewCatalog]
// makes one. It is safe for concurrent use. What its methods return must not be
// changed.
type Catalog struct {
	models    []*Model
	providers []*ProviderInfo
	endpoints []*Endpoint

	modelNames map[string][]int32 // folded name → indexes of models that it may name
	byModel    map[*Model]int32
	specs      []spec                   // of all endpoints, by model and slug with variant
	inSpecs    []*Endpoint              // in the order of specs, for callers that need only the endpoints
	served     []span                   // by model: its endpoints in specs
	byID       map[uuid.UUID]int32      // index of an endpoint in specs
	targets    map[string]int32         // folded provider name → target number
	nTargets   int                      // how many target numbers there are
	bySlug     map[string]*ProviderInfo // by folded slug
	lasts      bool                     // some endpoint is a last resort
	planners   planners
}

// spec is what a plan needs of an endpoint, computed once. Plans read the specs of
// all endpoints, so they are stored side by side and need no pointers.
type spec struct {
	endpoint           *Endpoint
	model              *Model
	fee                amount // of a request
	prompt, completion uint64 // nano-dollars per million tokens
	index              int32  // in the catalog's endpoints
	// Target numbers of what a provider's name may mean. A whole provider has its
	// index in the catalog's providers; a slug with variant has a number above
	// these.
	provider, tag int32
	traits        traits
}

type span struct{ from, to int32 }

// specByID returns the index of an endpoint in specs, or nowhere.
func (c *Catalog) specByID(id uuid.UUID) int32 {
	if i, ok := c.byID[id]; ok {
		return i
	}
	return nowhere
}

const nowhere = -1

// endpointSpace is the UUID namespace for endpoints without an ID. It must never
// change, because these IDs are permanent.
const endpointSpace = "https://github.com/signalbox/signalbox/endpoint/"

// NewCatalog makes a catalog from copies of its arguments. The first mistake found
// is returned as an error that names its place and wraps [ErrConfig]:
//
//   - a missing or malformed id or slug, or a name given twice
//   - stages that no request could have as its models, that name a model which is
//     unknown, ambiguous or made of stages, or that begin with a condition
//   - an endpoint of a model made of stages
//   - an endpoint of an unknown model or provider
//   - a price that is negative or no amount, or a negative limit
//   - an unknown quantization, parameter or group
//   - a rounding or a number of tokens per byte that is out of range
//   - an endpoint that claims zero retention and collects data
//   - a provider without a client although one of its endpoints is on, or whose
//     client holds a nil pointer, map, function or channel
//
// An endpoint without an ID gets a permanent one, derived from its provider,
// variant and model.
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
// programs. The model's ID and its dated id are both the endpoint's Model, and the
// provider's slug is its Provider. Errors are those of [NewCatalog].
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

// EndpointsOf returns the endpoints of a model of this catalog, by slug with
// variant in byte order. Those of a model made of stages are the endpoints of its
// entries, each once, in the order of the entries.
func (c *Catalog) EndpointsOf(m *Model) []*Endpoint {
	i, ok := c.byModel[m]
	if !ok {
		return nil
	}
	var list []*Endpoint
	for _, entry := range m.entries() {
		list = append(list, c.EndpointsOf(entry)...)
	}
	for j := c.served[i].from; j < c.served[i].to; j++ {
		list = append(list, c.specs[j].endpoint)
	}
	return list
}

// Provider returns the provider with a base slug, or nil; case does not matter.
func (c *Catalog) Provider(slug string) *ProviderInfo { return c.bySlug[fold(slug)] }

// Model returns the model that a name without a suffix means, as in
// [Catalog.Resolve]. It returns nil where the name means no model or more than one.
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

// Options returns the provider options of a request that go to an endpoint, or nil.
// Options for exactly its slug with variant come before those for its provider, by
// slug or display name. Of several the first counts, because two entries are never
// merged. Case does not matter.
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
