package router

import (
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// ModelRef is a model that a request asks for.
type ModelRef struct {
	Model *Model
	Sort  systemone.SortBy // from a suffix such as :floor, or ""
}

// Resolve finds the models that a request names, in its order. A name is a
// model's id or dated id, either without its author, or an alias x of v/m as x,
// v/x or ~v/x; case does not matter. It may end in :floor (sort by price),
// :nitro (by throughput) or :exacto. Of names that mean the same model the
// first stays.
//
// A name that fits no model, or several, is an [*Error] of [InvalidRequest]
// with the sentence "<name> is not a valid model ID" for the first such name;
// its Issues speak of all of them. So is an empty list.
func (c *Catalog) Resolve(names []string) ([]ModelRef, error) {
	refs := make([]ModelRef, 0, len(names))
	var failure *Error
	for i, name := range names {
		ref, problem := c.resolve(name)
		switch {
		case problem != "":
			if failure == nil {
				failure = &Error{Class: InvalidRequest, Message: name + " is not a valid model ID"}
			}
			failure.Issues = append(failure.Issues, systemone.Issue{Path: modelPath(i), Message: problem})
		case !slices.ContainsFunc(refs, func(r ModelRef) bool { return r.Model == ref.Model }):
			refs = append(refs, ref)
		}
	}
	if len(names) == 0 {
		failure = &Error{
			Class:  InvalidRequest,
			Issues: []systemone.Issue{{Path: modelPath(0), Message: "is required"}},
		}
	}
	if failure != nil {
		return nil, failure
	}
	return refs, nil
}

func modelPath(i int) string {
	if i == 0 {
		return "model"
	}
	return "models"
}

func (c *Catalog) resolve(name string) (ref ModelRef, problem string) {
	base, suffix, found := strings.Cut(name, ":")
	by := suffixSort(suffix)
	matches := c.named(base)
	switch {
	case found && by == "", len(matches) == 0:
		return ModelRef{}, name + " is not a valid model ID"
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

// Author is the part of the id before its slash.
func (m *Model) Author() string {
	author, _, _ := strings.Cut(m.ID, "/")
	return author
}

func afterAuthor(id string) string {
	_, name, _ := strings.Cut(id, "/")
	return name
}
