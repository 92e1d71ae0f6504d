package main

import (
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/similarity"
	"github.com/signalbox/signalbox/systemone"
)

// The model that asks the embedded model first, and a strong one where that is
// unsure.
const (
	cascadeModel     = "signalbox/cascade-en-1"
	cascadePermaslug = cascadeModel + "-20261122"
)

// stages sets what a model is made of. The catalog checks the entries.
func (m modelConfig) stages(place string, to *router.Model) error {
	if m.Stages != nil && len(m.Stages) == 0 {
		return at(place+".stages", "must have at least one entry")
	}
	to.Stages = m.Stages
	if m.MaxEscalated == nil {
		return nil
	}
	if m.Stages == nil {
		return at(place+".max_escalated", "belongs to a model with stages")
	}
	if to.MaxEscalated = *m.MaxEscalated; to.MaxEscalated == 0 || to.MaxEscalated > 1 {
		return at(place+".max_escalated", "must be more than 0 and at most 1")
	}
	return nil
}

// made reports whether a model is made of stages.
func (c config) made(model string) bool {
	return slices.ContainsFunc(c.Models, func(m modelConfig) bool { return m.ID == model && m.Stages != nil })
}

// addCascade adds the cascade to the models, if a provider of the embedded model
// names a strong model for it.
func (c config) addCascade(models []router.Model) ([]router.Model, error) {
	named := false
	for i, p := range c.Providers {
		if p.Cascade == "" {
			continue
		}
		place := fmt.Sprintf("providers[%d].cascade", i)
		first := slices.IndexFunc(c.Endpoints, func(e endpointConfig) bool { return e.Provider == p.Slug })
		switch {
		case p.Kind != kindSimilarity:
			return nil, at(place, "belongs to kind %q", kindSimilarity)
		case named:
			return nil, at(place, "is given for another provider already")
		case first < 0:
			return nil, at(place, "the provider has no endpoint to ask first")
		case !slices.ContainsFunc(c.Models, func(m modelConfig) bool { return m.ID == p.Cascade }):
			return nil, at(place, "no model has the id %q", p.Cascade)
		case c.made(p.Cascade):
			return nil, at(place, "%q is made of stages itself", p.Cascade)
		case p.Cascade == c.Endpoints[first].Model:
			return nil, at(place, "must be another model than the embedded one")
		}
		named = true
		models = append(models, router.Model{
			ID: cascadeModel, Permaslug: cascadePermaslug, Name: "Cascade EN 1",
			Description: "Asks the embedded model, and " + p.Cascade + " where it is unsure.",
			Stages:      []systemone.Entry{{Model: c.Endpoints[first].Model}, {Model: p.Cascade, When: similarity.Unsure()}},
		})
	}
	return models, nil
}

// stagesWarnings lists what is probably a mistake in models made of stages.
func stagesWarnings(catalog *router.Catalog) (list []string) {
	for _, m := range catalog.Models() {
		for i, e := range m.Stages {
			if on := slices.ContainsFunc(catalog.EndpointsOf(catalog.Model(e.Model)), func(e *router.Endpoint) bool { return !e.Off }); !on {
				list = append(list, fmt.Sprintf("models: %s: stages[%d]: %s has no endpoint that is switched on", m.ID, i, e.Model))
			}
		}
		if m.MaxEscalated > 0 && !slices.ContainsFunc(m.Stages, func(e systemone.Entry) bool { return e.When != nil }) {
			list = append(list, fmt.Sprintf("models: %s: max_escalated has no effect, because no entry has a condition", m.ID))
		}
	}
	return list
}
