package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
)

// The kinds of provider.
const (
	kindSystemOne  = "systemone"
	kindOpenAI     = "openai"
	kindGemini     = "gemini"
	kindSimilarity = "similarity"
)

// upstream is a provider of the configuration with what its endpoints inherit.
type upstream struct {
	info router.ProviderInfo
	kind string
	off  bool // its credential is missing
	// endpoint makes one of its endpoints with the defaults for what the configuration leaves out.
	endpoint func(slug, model, upstreamModel string) router.Endpoint
}

// builder turns a configuration into a catalog. Credentials come from getenv;
// warn gets one line for each disabled provider.
type builder struct {
	getenv func(string) string
	warn   func(string)
}

func (b builder) catalog(c config) (*router.Catalog, error) {
	for _, list := range []struct {
		name string
		n    int
	}{{"providers", len(c.Providers)}, {"models", len(c.Models)}, {"endpoints", len(c.Endpoints)}} {
		if list.n == 0 {
			return nil, at(list.name, "must have at least one entry")
		}
	}
	upstreams := map[string]*upstream{}
	providers := make([]router.ProviderInfo, 0, len(c.Providers))
	for i, p := range c.Providers {
		place := fmt.Sprintf("providers[%d]", i)
		u, err := b.upstream(place, p)
		if err != nil {
			return nil, err
		}
		if upstreams[p.Slug] != nil {
			return nil, at(place+".slug", "%q is used twice", p.Slug)
		}
		upstreams[p.Slug] = u
		providers = append(providers, u.info)
	}
	models, err := c.models()
	if err != nil {
		return nil, err
	}
	models, err = c.addCascade(models)
	if err != nil {
		return nil, err
	}
	endpoints := make([]router.Endpoint, 0, len(c.Endpoints))
	for i, e := range c.Endpoints {
		place := fmt.Sprintf("endpoints[%d]", i)
		endpoint, err := e.endpoint(place, upstreams[e.Provider])
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(models, func(m router.Model) bool { return m.ID == e.Model }) {
			return nil, at(place+".model", "no model has the id %q", e.Model)
		}
		if c.made(e.Model) {
			return nil, at(place+".model", "%q is made of stages, so it has no endpoints", e.Model)
		}
		endpoints = append(endpoints, endpoint)
	}
	catalog, err := router.NewCatalog(models, providers, endpoints)
	if err != nil {
		return nil, errors.New(plain(err))
	}
	return catalog, nil
}

// builtin returns the configuration of a server without -config: the embedded model
// alone.
func builtin() config {
	safe := false
	return config{
		Providers: []providerConfig{{Slug: "embedded", Name: "Embedded", Kind: kindSimilarity}},
		Models: []modelConfig{{
			ID: similarity.Model, Permaslug: similarity.Permaslug, Name: "Similarity EN 1",
			Aliases: []string{"similarity-latest"},
		}},
		Endpoints: []endpointConfig{{Provider: "embedded", Model: similarity.Model, DataCollection: &safe, ZDR: true}},
	}
}

// models translates the models. "distillable" is a member of endpoints, although it
// is a property of the model, so all endpoints of a model must agree.
func (c config) models() ([]router.Model, error) {
	models := make([]router.Model, 0, len(c.Models))
	for i, m := range c.Models {
		if m.ID == "" {
			return nil, at(fmt.Sprintf("models[%d].id", i), "is required")
		}
		if m.Permaslug == "" {
			return nil, at(fmt.Sprintf("models[%d].permaslug", i), "is required")
		}
		model := router.Model{ID: m.ID, Permaslug: m.Permaslug, Name: m.Name, Aliases: m.Aliases, Categories: m.Categories}
		if err := m.stages(fmt.Sprintf("models[%d]", i), &model); err != nil {
			return nil, err
		}
		models = append(models, model)
	}
	said := map[string]bool{}
	for i, e := range c.Endpoints {
		if before, ok := said[e.Model]; ok && before != e.Distillable {
			return nil, at(fmt.Sprintf("endpoints[%d].distillable", i), "the endpoints of %q disagree", e.Model)
		}
		said[e.Model] = e.Distillable
	}
	for i := range models {
		models[i].Distillable = said[models[i].ID]
	}
	return models, nil
}

func (b builder) upstream(place string, p providerConfig) (*upstream, error) {
	if p.Slug == "" {
		return nil, at(place+".slug", "is required")
	}
	u := &upstream{info: router.ProviderInfo{Slug: p.Slug, Name: p.Name}, kind: p.Kind}
	if p.Kind == kindSimilarity {
		if p.Profile != "" || p.BaseURL != "" || p.APIKeyEnv != "" || p.SilenceRefuses != nil || p.SendTrace {
			return nil, at(place, "a %q provider takes no further member but cascade", kindSimilarity)
		}
		return u, u.embed(place)
	}
	if p.Kind != kindSystemOne && p.Kind != kindOpenAI && p.Kind != kindGemini {
		return nil, at(place+".kind", "must be %q, %q, %q or %q", kindSystemOne, kindOpenAI, kindGemini, kindSimilarity)
	}
	if err := checkURL(p.BaseURL); err != nil {
		return nil, at(place+".base_url", "%s", err)
	}
	var key router.Secret
	if p.APIKeyEnv != "" {
		if !environmentName(p.APIKeyEnv) { // the error does not quote it, because it may be the credential itself
			return nil, at(place+".api_key_env", "must be the name of an environment variable")
		}
		if key = router.Secret(b.getenv(p.APIKeyEnv)); key == "" {
			u.off = true
			b.warn(fmt.Sprintf("provider %s is disabled: the environment variable %s is not set", p.Slug, p.APIKeyEnv))
		}
	}
	if p.Kind == kindSystemOne {
		return u, u.systemOne(place, p, key)
	}
	if p.Profile != "" {
		return nil, at(place+".profile", "belongs to kind %q", kindSystemOne)
	}
	if p.SilenceRefuses != nil {
		return nil, at(place+".silence_refuses", "belongs to kind %q", kindSystemOne)
	}
	if p.Kind == kindGemini {
		return u, u.gemini(place, p, key)
	}
	return u, u.openAI(place, p, key)
}

// environmentName reports whether s consists of letters, digits and underscores, and
// does not begin with a digit.
func environmentName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
