package httpapi

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/signalbox/signalbox/router"
)

// modelObject is one model of the catalog. Clients in the field require the members
// without omitempty, which may be null.
type modelObject struct {
	ID                  string       `json:"id"`
	CanonicalSlug       string       `json:"canonical_slug"`
	Name                string       `json:"name"`
	Created             int64        `json:"created"` // seconds since the epoch
	Description         string       `json:"description"`
	ContextLength       *int         `json:"context_length"`
	Architecture        architecture `json:"architecture"`
	Pricing             pricing      `json:"pricing"` // of the cheapest endpoint
	TopProvider         topProvider  `json:"top_provider"`
	SupportedParameters []string     `json:"supported_parameters"`
	DefaultParameters   *struct{}    `json:"default_parameters"`
	PerRequestLimits    *struct{}    `json:"per_request_limits"`
	SupportedVoices     []string     `json:"supported_voices"`
	Links               modelLinks   `json:"links"`
	// Of a model made of stages: the models that it asks, in order, and the price of
	// the dearest endpoint.
	Stages     []string `json:"stages,omitempty"`
	MaxPricing *pricing `json:"max_pricing,omitempty"`
}

type architecture struct {
	Modality         string   `json:"modality"`
	InputModalities  []string `json:"input_modalities"`
	OutputModalities []string `json:"output_modalities"`
	InstructType     *string  `json:"instruct_type"`
	Tokenizer        string   `json:"tokenizer"`
}

// pricing is in USD per token and per request, as exact decimals.
type pricing struct {
	Prompt     string `json:"prompt"`
	Completion string `json:"completion"`
	Request    string `json:"request"`
}

type topProvider struct {
	ContextLength       *int `json:"context_length"`
	MaxCompletionTokens *int `json:"max_completion_tokens"`
	IsModerated         bool `json:"is_moderated"`
}

type modelLinks struct {
	Details string `json:"details"` // "" if the surface has no such route
}

type pageLinks struct {
	Next *string `json:"next"`
}

type modelList struct {
	Data       []modelObject `json:"data"`
	Links      pageLinks     `json:"links"`
	TotalCount int           `json:"total_count"`
	Models     []nativeModel `json:"models,omitzero"`
}

// nativeModel is a model as clients of the native System One API expect it.
type nativeModel struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ReleaseDate string `json:"release_date"`
}

// served is a model and its endpoints, of which there is at least one. Those of a model
// made of stages are the endpoints of its entries, in their order.
type served struct {
	*router.Model
	catalog   *router.Catalog
	endpoints []*router.Endpoint
}

// begin returns the model that a request is sent to first, which is the model itself or
// its first entry, and the endpoints of that.
func (m served) begin() (*router.Model, []*router.Endpoint) {
	first := m.catalog.Model(m.endpoints[0].Model)
	n := slices.IndexFunc(m.endpoints, func(e *router.Endpoint) bool { return e.Model != first.ID })
	if n < 0 {
		n = len(m.endpoints)
	}
	return first, m.endpoints[:n]
}

// stages returns the ids of the models that the model asks; nil if it is not made of
// stages.
func (m served) stages() (ids []string) {
	for _, e := range m.Stages {
		ids = append(ids, m.catalog.Model(e.Model).ID)
	}
	return ids
}

// listModels serves GET /models: the public catalog, or only the models that the caller
// may use if the caller's account is set up so.
func (x *exchange) listModels(ctx context.Context) error {
	usable, err := x.shown(ctx)
	if err != nil {
		return err
	}
	list, _, err := x.models(usable)
	if err != nil {
		return err
	}
	x.out = appendJSON(x.out, list)
	return nil
}

// listNativeModels serves the native GET /models. The reply has the models in both
// forms.
func (x *exchange) listNativeModels(ctx context.Context) error {
	usable, err := x.shown(ctx)
	if err != nil {
		return err
	}
	list, page, err := x.models(usable)
	if err != nil {
		return err
	}
	list.Models = make([]nativeModel, 0, len(page))
	for _, m := range page {
		native := nativeModel{Name: m.ID, Description: m.Description}
		if !m.Created.IsZero() {
			native.ReleaseDate = m.Created.UTC().Format(time.DateOnly)
		}
		list.Models = append(list.Models, native)
	}
	x.out = appendJSON(x.out, list)
	return nil
}

// models returns one page of the given models that match the query, and the models on
// that page. A model without endpoints is not listed, because it has no price and
// cannot be used.
func (x *exchange) models(all []served) (modelList, []served, error) {
	query := x.parameters()
	p := query.page(defaultPage, maxPage)
	all = query.models(all)
	if err := query.err(); err != nil {
		return modelList{}, nil, err
	}
	part := cut(p, all)
	list := modelList{Data: make([]modelObject, 0, len(part)), TotalCount: len(all)}
	list.Links.Next = p.next(x.r, len(all))
	base := strings.TrimSuffix(requestPath(x.r), "/user")
	for _, m := range part {
		o := describeModel(m)
		if !x.s.native { // the native surface has no such route
			o.Links.Details = detailsLink(base, m)
		}
		list.Data = append(list.Data, o)
	}
	return list, part, nil
}

// describeModel returns a model with the price of its cheapest endpoint. A model made of
// stages takes what its first entry takes.
func describeModel(m served) modelObject {
	first, takes := m.begin()
	o := modelObject{
		ID: m.ID, CanonicalSlug: m.Permaslug, Name: m.Name, Created: created(m.Model), Description: m.Description,
		ContextLength: positive(cmp.Or(m.ContextLength, first.ContextLength)), Architecture: decisions(),
		Pricing:             priceOf(cheapest(m.endpoints).Pricing),
		TopProvider:         topProvider{ContextLength: positive(contextOf(first, cheapest(takes)))},
		SupportedParameters: []string{},
	}
	for _, e := range takes {
		o.SupportedParameters = append(o.SupportedParameters, e.Parameters...)
	}
	slices.Sort(o.SupportedParameters)
	o.SupportedParameters = slices.Compact(o.SupportedParameters)
	if o.Stages = m.stages(); o.Stages != nil {
		most := priceOf(dearest(m.endpoints).Pricing)
		o.MaxPricing = &most
	}
	return o
}

// cheapest returns the cheapest endpoint; endpoints that are switched on come first.
func cheapest(endpoints []*router.Endpoint) *router.Endpoint {
	return slices.MinFunc(endpoints, func(a, b *router.Endpoint) int { return cmp.Or(compareOff(a, b), comparePrices(a, b)) })
}

// dearest returns the dearest endpoint; endpoints that are switched on come first.
func dearest(endpoints []*router.Endpoint) *router.Endpoint {
	return slices.MinFunc(endpoints, func(a, b *router.Endpoint) int { return cmp.Or(compareOff(a, b), comparePrices(b, a)) })
}

func compareOff(a, b *router.Endpoint) int {
	switch {
	case a.Off == b.Off:
		return 0
	case a.Off:
		return 1
	}
	return -1
}

func comparePrices(a, b *router.Endpoint) int {
	return cmp.Or(
		cmp.Compare(a.Pricing.Prompt.USD()+a.Pricing.Completion.USD(), b.Pricing.Prompt.USD()+b.Pricing.Completion.USD()),
		cmp.Compare(a.Pricing.Request.USD(), b.Pricing.Request.USD()),
	)
}

// decisions is the same for every model, because all of them are decision models.
func decisions() architecture {
	return architecture{
		Modality: "text->" + modality, InputModalities: []string{"text"}, OutputModalities: []string{modality},
		Tokenizer: "Other",
	}
}

// priceOf converts prices per million tokens to prices per token, exactly.
func priceOf(p router.Pricing) pricing {
	return pricing{
		Prompt:     decimal.New(int64(p.Prompt.USD()), -15).String(),
		Completion: decimal.New(int64(p.Completion.USD()), -15).String(),
		Request:    decimal.New(int64(p.Request.USD()), -9).String(),
	}
}

// created returns the creation time in seconds since the epoch, or 0 if it is unknown.
func created(m *router.Model) int64 {
	if m.Created.IsZero() {
		return 0
	}
	return m.Created.Unix()
}

// contextOf returns an endpoint's context length, or else its model's; 0 means no
// limit.
func contextOf(m *router.Model, e *router.Endpoint) int {
	if e.ContextLength > 0 {
		return e.ContextLength
	}
	return m.ContextLength
}

// positive returns nil, which is null in JSON, for a figure that is not known.
func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
