package router

import (
	"errors"
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
	of       *Model   // the model made of stages whose condition began it, or nil
}

// groupsOf finds the models that a request names, by group. Of names in one group
// that mean the same model the first counts. Errors are those of [Catalog.Resolve]. One
// group is put into room, which is empty.
func (c *Catalog) groupsOf(q *systemone.Request, room []group) ([]group, error) {
	r := resolution{catalog: c, questions: q.Questions, groups: room[:1]}
	if n := conditions(q.Models); n > 0 {
		r.groups = make([]group, 1, 1+n)
	}
	r.groups[0].models = make([]ModelRef, 0, 1+len(q.Models))
	if q.Model != "" {
		r.add(&systemone.Entry{Model: q.Model}, modelMember)
	}
	for i := range q.Models {
		if r.full() {
			break
		}
		r.add(&q.Models[i], member(i))
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

// modelsOf returns the models of all groups.
func modelsOf(groups []group) []ModelRef {
	if len(groups) == 1 {
		return groups[0].models
	}
	var models []ModelRef
	for i := range groups {
		models = append(models, groups[i].models...)
	}
	return models
}

const mustBePlain = " is made of stages, so it takes no suffix and no members such as when"

// member is where a request names a model: an index of models, or modelMember.
type member int

const modelMember member = -1

func (m member) path() string {
	if m == modelMember {
		return "model"
	}
	return "models." + strconv.Itoa(int(m))
}

// resolution collects the models that names mean, and the names that mean none.
type resolution struct {
	catalog   *Catalog
	questions []systemone.Question // that conditions of stages look at; nil is not known
	groups    []group
	named     int      // how many names were read
	expanded  []*Model // those made of stages
	failure   *Error
}

// add adds an entry of the request; one with a condition begins a group.
func (r *resolution) add(e *systemone.Entry, at member) {
	if r.named++; e.When != nil && r.named > 1 {
		r.begin(e, nil)
	}
	r.last().to = r.named
	ref, problem := r.catalog.resolve(e.Model)
	switch {
	case problem != "":
		r.refuse(clip(e.Model)+" is not a valid model ID", systemone.Issue{Path: at.path(), Message: problem})
	case !ref.Model.composed():
		r.put(ref, e)
	case *e != systemone.Entry{Model: e.Model}: // an object, which has the name in a member
		r.refuse("", systemone.Issue{Path: at.path() + ".model", Message: ref.Model.ID + mustBePlain})
	case ref.Sort != "":
		r.refuse("", systemone.Issue{Path: at.path(), Message: ref.Model.ID + mustBePlain})
	default:
		r.expand(ref.Model, at)
	}
}

// expand adds the entries of a model made of stages, as if they stood in its place.
// A second mention of the model adds nothing.
func (r *resolution) expand(m *Model, at member) {
	if slices.Contains(r.expanded, m) {
		return
	}
	r.expanded = append(r.expanded, m)
	if r.questions != nil {
		err := systemone.CheckConditions("stages", m.Stages, r.questions)
		if invalid, ok := errors.AsType[*systemone.InvalidError](err); ok {
			for _, issue := range invalid.Issues {
				r.refuse("", systemone.Issue{Path: at.path() + "." + issue.Path, Message: issue.Message})
			}
		}
	}
	for i := range m.Stages {
		e := &m.Stages[i]
		if e.When != nil {
			r.begin(e, m)
		}
		r.put(ModelRef{Model: m.stages[i], Via: m}, e)
	}
}

// begin begins a group with the name that was read last.
func (r *resolution) begin(e *systemone.Entry, of *Model) {
	r.groups = append(r.groups, group{when: e.When, scope: e.Scope, required: e.Required, of: of, from: r.named - 1, to: r.named})
}

// put adds a model to the last group.
func (r *resolution) put(ref ModelRef, e *systemone.Entry) {
	g := r.last()
	if !slices.ContainsFunc(g.models, func(have ModelRef) bool { return have.Model == ref.Model && have.Via == ref.Via }) {
		g.models = append(g.models, ref)
	}
	if e.ShopRefusals {
		g.shops = append(g.shops, ref.Model)
	}
}

func (r *resolution) last() *group { return &r.groups[len(r.groups)-1] }

// refuse notes what is wrong with a name, with the sentence for the caller if it is
// the first.
func (r *resolution) refuse(sentence string, issue systemone.Issue) {
	if r.failure == nil {
		r.failure = &Error{Class: InvalidRequest, Message: sentence}
	}
	if !r.full() {
		r.failure.Issues = append(r.failure.Issues, issue)
	}
}

// full reports whether a refusal lists no further name.
func (r *resolution) full() bool { return r.failure != nil && len(r.failure.Issues) == maxIssues }

// err returns what is wrong with the names.
func (r *resolution) err() error {
	switch {
	case r.failure != nil:
		return r.failure
	case r.named == 0:
		return &Error{Class: InvalidRequest, Issues: []systemone.Issue{{Path: "model", Message: "is required"}}}
	}
	return nil
}
