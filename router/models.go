package router

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// ModelRef is one model that a request asks for.
type ModelRef struct {
	Model *Model
	Sort  systemone.SortBy // of the name's suffix, such as :floor, or ""
	// Via is the model made of stages that the request names and Model is an entry
	// of; nil where the request names Model itself.
	Via *Model
}

// maxIssues is the most wrong names that a refusal lists.
const maxIssues = 100

// Resolve finds the models that a request names: model, unless it is "", then the
// fallbacks in their order. A name is a model's id or dated id, with or without its
// author, or an alias x of v/m as x, v/x or ~v/x. Case does not matter. It may end
// in :floor (sort by price), :nitro (by throughput) or :exacto (by share of passed
// checks). Of names that mean the same model the first counts. A name of a model
// made of stages finds its entries, in their order, and takes no suffix.
//
// A name that means no model or several is an [*Error] of [InvalidRequest] with the
// sentence "<name> is not a valid model ID" for the first such name. Its Issues
// list up to 100 such names by path: model, models.0 and so on. No name at all is
// an [InvalidRequest], too.
func (c *Catalog) Resolve(model string, fallbacks ...string) ([]ModelRef, error) {
	r := resolution{catalog: c, groups: make([]group, 1)}
	r.groups[0].models = make([]ModelRef, 0, 1+len(fallbacks))
	if model != "" {
		r.add(&systemone.Entry{Model: model}, modelMember)
	}
	for i, name := range fallbacks {
		if r.full() {
			break
		}
		r.add(&systemone.Entry{Model: name}, member(i))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return modelsOf(r.groups), nil
}

// maxShown is how many bytes of a name a refusal repeats.
const maxShown = 256

// clip shortens a name that is longer than maxShown.
func clip(name string) string {
	if len(name) <= maxShown {
		return name
	}
	return strings.ToValidUTF8(name[:maxShown], "") + "…"
}

func (c *Catalog) resolve(name string) (ref ModelRef, problem string) {
	base, suffix, found := strings.Cut(name, ":")
	by := suffixSort(suffix)
	matches := c.named(base)
	switch {
	case found && by == "", len(matches) == 0:
		return ModelRef{}, clip(name) + " is not a valid model ID"
	case len(matches) > 1:
		ids := make([]string, len(matches))
		for i, m := range matches {
			ids[i] = c.models[m].ID
		}
		return ModelRef{}, name + " could be " + strings.Join(ids, " or ")
	}
	return ModelRef{Model: c.models[matches[0]], Sort: by}, ""
}

// named returns the models that a name without a suffix may mean.
func (c *Catalog) named(name string) []int32 { return c.modelNames[fold(name)] }

func suffixSort(suffix string) systemone.SortBy {
	switch fold(suffix) {
	case "floor":
		return systemone.SortPrice
	case "nitro":
		return systemone.SortThroughput
	case "exacto":
		return systemone.SortExacto
	}
	return ""
}

// nameModels fills modelNames with every name of every model.
func (c *Catalog) nameModels() {
	c.modelNames = make(map[string][]int32, 6*len(c.models))
	for i, m := range c.models {
		for _, name := range modelNames(m) {
			key := fold(name)
			if !slices.Contains(c.modelNames[key], int32(i)) {
				c.modelNames[key] = append(c.modelNames[key], int32(i))
			}
		}
	}
}

// modelNames lists the names of a model, those with an author first.
func modelNames(m *Model) []string {
	author := m.Author()
	names := []string{m.ID, m.Permaslug}
	for _, alias := range m.Aliases {
		names = append(names, author+"/"+alias, "~"+author+"/"+alias)
	}
	names = append(names, afterAuthor(m.ID), afterAuthor(m.Permaslug))
	return append(names, m.Aliases...)
}

// Author returns the part of the id before its slash.
func (m *Model) Author() string {
	author, _, _ := strings.Cut(m.ID, "/")
	return author
}

func afterAuthor(id string) string {
	_, name, _ := strings.Cut(id, "/")
	return name
}
