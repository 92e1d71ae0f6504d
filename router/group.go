package router

import (
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/systemone"
)

// group is models that one plan orders: an entry that begins it, and the entries
// behind it that are fallbacks for the same questions.
type group struct {
	models   []ModelRef
	from, to int                  // its names in the request's list of names
	when     *systemone.Condition // nil for the first group
	scope    systemone.Scope
	required bool
	shops    []*Model // those whose refusals for safety are asked of others
}

// groupsOf finds the models that a request names, by group. Of names in one group
// that mean the same model the first counts. Errors are those of [Catalog.Resolve]. One
// group is put into room, which is empty.
func (c *Catalog) groupsOf(q *systemone.Request, room []group) ([]group, error) {
	r := resolution{catalog: c, groups: room[:1]}
	if n := conditions(q.Models); n > 0 {
		r.groups = make([]group, 1, 1+n)
	}
	r.groups[0].models = make([]ModelRef, 0, 1+len(q.Models))
	if q.Model != "" {
		r.add(q.Model, "model")
	}
	for i := range q.Models {
		if r.failure != nil && len(r.failure.Issues) == maxIssues {
			break
		}
		r.entry(&q.Models[i], i)
	}
	return r.groups, r.err()
}

// conditions returns how many of the entries have a condition.
func conditions(entries []systemone.Entry) (n int) {
	for i := range entries {
		if entries[i].When != nil {
			n++
		}
	}
	return n
}

// resolution collects the models that names mean, and the names that mean none.
type resolution struct {
	catalog *Catalog
	groups  []group
	failure *Error
}

// entry adds an entry; one with a condition begins a group.
func (r *resolution) entry(e *systemone.Entry, i int) {
	if at := r.last().to; e.When != nil && at > 0 {
		r.groups = append(r.groups, group{when: e.When, scope: e.Scope, required: e.Required, from: at, to: at})
	}
	m := r.add(e.Model, "models."+strconv.Itoa(i))
	if g := r.last(); m != nil && e.ShopRefusals {
		g.shops = append(g.shops, m)
	}
}

func (r *resolution) last() *group { return &r.groups[len(r.groups)-1] }

// add adds the model that a name means to the last group and returns it; nil where
// the name means none.
func (r *resolution) add(name, path string) *Model {
	g := r.last()
	g.to++
	ref, problem := r.catalog.resolve(name)
	switch {
	case problem != "":
		if r.failure == nil {
			r.failure = &Error{Class: InvalidRequest, Message: clip(name) + " is not a valid model ID"}
		}
		r.failure.Issues = append(r.failure.Issues, systemone.Issue{Path: path, Message: problem})
		return nil
	case !slices.ContainsFunc(g.models, func(have ModelRef) bool { return have.Model == ref.Model }):
		g.models = append(g.models, ref)
	}
	return ref.Model
}

// err returns what is wrong with the names.
func (r *resolution) err() error {
	switch {
	case r.failure != nil:
		return r.failure
	case r.groups[0].to == 0:
		return &Error{Class: InvalidRequest, Issues: []systemone.Issue{{Path: "model", Message: "is required"}}}
	}
	return nil
}
