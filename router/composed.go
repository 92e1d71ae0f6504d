package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// composed reports whether a model is made of stages.
func (m *Model) composed() bool { return m.Stages != nil }

// entries returns the models that a model of a catalog is made of, each once; none
// where it has endpoints.
func (m *Model) entries() []*Model {
	var list []*Model
	for _, entry := range m.stages {
		if !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return list
}

// addStages checks the models made of stages and finds the models of their entries.
func (c *Catalog) addStages() error {
	for i, m := range c.models {
		m.stages = nil
		if most := m.MaxEscalated; !(most >= 0 && most <= 1) {
			return wrong("models", i, "%s: MaxEscalated is not in 0 to 1", m.ID)
		} else if most > 0 && !m.composed() {
			return wrong("models", i, "%s: MaxEscalated without stages", m.ID)
		}
		if !m.composed() {
			continue
		}
		if place, problem := m.stagesProblem(); problem != "" {
			return wrong("models", i, "%s: stages%s: %s", m.ID, place, problem)
		}
		for j := range m.Stages {
			entry, problem := c.entry(m.Stages[j].Model)
			if problem != "" {
				return wrong("models", i, "%s: stages.%d: %s", m.ID, j, problem)
			}
			m.stages = append(m.stages, entry)
		}
	}
	return nil
}

// stagesProblem returns the first problem of a model's stages that does not depend
// on other models, and its place.
func (m *Model) stagesProblem() (place, problem string) {
	err := systemone.ValidateEntries(m.Stages)
	switch invalid, _ := errors.AsType[*systemone.InvalidError](err); {
	case len(m.Stages) == 0:
		return "", "must have at least one entry"
	case invalid != nil && len(invalid.Issues) > 0 && invalid.Issues[0].Path == "":
		return "", invalid.Issues[0].Message
	case invalid != nil && len(invalid.Issues) > 0:
		return "." + invalid.Issues[0].Path, invalid.Issues[0].Message
	case m.Stages[0].When != nil:
		return ".0.when", "must not be given for the first entry, before which nothing is answered"
	}
	return "", ""
}

// entry returns the model that an entry of a model made of stages names.
func (c *Catalog) entry(name string) (m *Model, problem string) {
	if strings.Contains(name, ":") {
		return nil, fmt.Sprintf("%q must not have a suffix", name)
	}
	ref, problem := c.resolve(name)
	switch {
	case len(c.named(name)) == 0:
		return nil, fmt.Sprintf("unknown model %q", name)
	case problem != "":
		return nil, problem
	case ref.Model.composed():
		return nil, ref.Model.ID + " is made of stages itself"
	}
	return ref.Model, ""
}

// indexOf returns the index of a model in the catalog, or nowhere.
func (c *Catalog) indexOf(m *Model) int32 {
	if m != nil {
		if i, ok := c.byModel[m]; ok {
			return i
		}
	}
	return nowhere
}
