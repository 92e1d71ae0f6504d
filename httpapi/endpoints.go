package httpapi

import (
	"cmp"
	"context"

	"github.com/signalbox/signalbox/router"
)

// soundUptime is the lowest uptime of the last 30 minutes, in percent, of an endpoint
// that is listed as healthy.
const soundUptime = 95

// The statuses of an endpoint in listings.
const (
	statusSound    = 0
	statusOutage   = -1
	statusDegraded = -2
	statusOff      = -10
)

// endpointObject is one endpoint of a model. Clients in the field require the members
// without omitempty, which may be null.
type endpointObject struct {
	ID                      string      `json:"endpoint_id"` // the same id as in activity
	Name                    string      `json:"name"`
	Tag                     string      `json:"tag"` // provider slug with variant
	ModelID                 string      `json:"model_id"`
	ModelName               string      `json:"model_name"`
	ProviderName            string      `json:"provider_name"`
	Status                  int         `json:"status"`
	ContextLength           int         `json:"context_length"` // 0 means no limit, because clients refuse null
	MaxPromptTokens         *int        `json:"max_prompt_tokens"`
	MaxCompletionTokens     *int        `json:"max_completion_tokens"`
	SupportsImplicitCaching bool        `json:"supports_implicit_caching"`
	SupportsToolChoice      toolChoice  `json:"supports_tool_choice"`
	Pricing                 pricing     `json:"pricing"`
	Quantization            string      `json:"quantization"`
	SupportedParameters     []string    `json:"supported_parameters"`
	UptimeLast5m            *float64    `json:"uptime_last_5m"`
	UptimeLast30m           *float64    `json:"uptime_last_30m"`
	UptimeLast1d            *float64    `json:"uptime_last_1d"`
	LatencyLast30m          *percentile `json:"latency_last_30m"`    // seconds
	ThroughputLast30m       *percentile `json:"throughput_last_30m"` // tokens per second
}

// toolChoice is always false, because decision models call no tools.
type toolChoice struct {
	Auto     bool `json:"auto"`
	Function bool `json:"function"`
	None     bool `json:"none"`
	Required bool `json:"required"`
}

type percentile struct {
	P50 float64 `json:"p50"`
	P75 float64 `json:"p75"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

type modelEndpoints struct {
	ID           string           `json:"id"`
	Name         string           `json:"name"`
	Created      int64            `json:"created"`
	Description  string           `json:"description"`
	Architecture architecture     `json:"architecture"`
	Endpoints    []endpointObject `json:"endpoints"`
}

type providerObject struct {
	Name              string  `json:"name"`
	Slug              string  `json:"slug"`
	PrivacyPolicyURL  *string `json:"privacy_policy_url"`
	TermsOfServiceURL *string `json:"terms_of_service_url"`
	StatusPageURL     *string `json:"status_page_url"`
}

// data is the envelope of replies that are not paged lists.
type data struct {
	Data any `json:"data"`
}

// listEndpoints serves GET /models/{author}/{slug}/endpoints. The path may hold any
// name of the model that a request may hold. A model made of stages has the endpoints of
// its entries.
func (x *exchange) listEndpoints(context.Context) error {
	catalog := x.s.Router.Catalog()
	refs, err := catalog.Resolve(x.r.PathValue("author") + "/" + x.r.PathValue("slug"))
	if err != nil || len(refs) == 0 {
		return errNotFound
	}
	m := named(refs[0])
	list := modelEndpoints{
		ID: m.ID, Name: m.Name, Created: created(m), Description: m.Description, Architecture: decisions(),
		Endpoints: []endpointObject{},
	}
	for _, e := range catalog.EndpointsOf(m) {
		list.Endpoints = append(list.Endpoints, x.s.describeEndpoint(catalog.Model(e.Model), e))
	}
	x.out = appendJSON(x.out, data{list})
	return nil
}

// named returns the model that a name means, of which ref is the first entry if the model
// is made of stages.
func named(ref router.ModelRef) *router.Model { return cmp.Or(ref.Via, ref.Model) }

func (s *server) describeEndpoint(m *router.Model, e *router.Endpoint) endpointObject {
	health := s.Router.Health(e.ID)
	o := endpointObject{
		ID: e.ID.String(), Name: s.providerName(e.Provider) + " | " + m.ID, Tag: e.Tag(), ModelID: m.ID, ModelName: m.Name,
		ProviderName: s.providerName(e.Provider), Status: endpointStatus(e, health),
		ContextLength: contextOf(m, e), MaxPromptTokens: positive(e.ContextLength), MaxCompletionTokens: positive(e.Counting.CompletionTokens),
		Pricing:      priceOf(e.Pricing),
		Quantization: e.Quantization, SupportedParameters: append([]string{}, e.Parameters...),
		UptimeLast5m: health.Uptime5m, UptimeLast30m: health.Uptime30m, UptimeLast1d: health.Uptime1d,
		LatencyLast30m: percentiles(health.Latency30m), ThroughputLast30m: percentiles(health.Throughput30m),
	}
	if o.Quantization == "" {
		o.Quantization = "unknown"
	}
	return o
}

func endpointStatus(e *router.Endpoint, h router.Health) int {
	switch {
	case e.Off:
		return statusOff
	case h.Outage:
		return statusOutage
	case h.Uptime30m != nil && *h.Uptime30m < soundUptime:
		return statusDegraded
	}
	return statusSound
}

// percentiles returns nil, which is null in JSON, if there is too little data.
func percentiles(p router.Percentiles) *percentile {
	if !p.Known {
		return nil
	}
	return &percentile{P50: p.P50, P75: p.P75, P90: p.P90, P99: p.P99}
}

// listProviders serves GET /providers.
func (x *exchange) listProviders(context.Context) error {
	list := []providerObject{}
	for _, p := range x.s.Router.Catalog().Providers() {
		list = append(list, providerObject{
			Name: p.Name, Slug: p.Slug,
			PrivacyPolicyURL: orNull(p.PrivacyPolicyURL), TermsOfServiceURL: orNull(p.TermsURL), StatusPageURL: orNull(p.StatusPageURL),
		})
	}
	x.out = appendJSON(x.out, data{list})
	return nil
}
