package systemone

import (
	"slices"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// Entry is one member of the list that Model and Models make: a model to ask. On
// the wire it is a text where only Model is set, and an object otherwise.
//
// An entry with When begins a group, and so does the first entry of a request. The
// entries behind it belong to its group: they are asked where the models before
// them fail. The When of a request's first entry has no effect, because there are
// no answers before it.
type Entry struct {
	Model string // 1 to 256 characters
	// When says which answers make the group due. Nil is no condition.
	When  *Condition
	Scope Scope // what the group is asked; only with When
	// Required makes the request fail where the group is due and cannot answer.
	// Without it the answers so far stay. Only with When.
	Required bool
	// ShopRefusals allows that questions which Model refuses for safety are asked
	// of other models. Without it such a refusal is final.
	ShopRefusals bool
	// Calibration names the calibration for which the bounds of When were chosen, in
	// at most 256 characters; "" is none. On the wire it is a member of when.
	Calibration string
}

// Texts returns entries without conditions, one for each model.
func Texts(models ...string) []Entry {
	if len(models) == 0 {
		return nil
	}
	list := make([]Entry, len(models))
	for i, model := range models {
		list[i].Model = model
	}
	return list
}

// Scope says which questions a group is asked.
type Scope string

// The values of [Entry.Scope]; "" is [ScopeMatched].
const (
	ScopeMatched Scope = "matched" // those that [Condition.Match] names
	ScopeAll     Scope = "all"     // every question of the request
)

// UnmarshalJSON reads an entry as [Decoder.Decode] reads those of a request, except
// that the questions of conditions may have any name. The error is an
// [*InvalidError] with paths relative to the entry.
func (e *Entry) UnmarshalJSON(data []byte) error {
	p := problems{steps: make([]string, 0, 8)}
	if !checkSyntax(data, 0, &p) {
		return p.err()
	}
	got := p.entry(slices.Clone(jsontext.Trim(data)))
	v := validator{problems: &p, trusted: true}
	v.model(&got)
	v.group(&got, nil)
	if err := p.err(); err != nil {
		return err
	}
	*e = got
	return nil
}

// ValidateEntries checks entries built by hand, or those of a configuration, by the
// rules and limits of a request's models, except that the questions of conditions
// may have any name. It returns nil or an [*InvalidError] with paths that begin with
// an index.
func ValidateEntries(entries []Entry) error {
	p := problems{}
	v := validator{problems: &p}
	v.models(entries)
	v.conditions(entries, nil)
	return p.err()
}

// CheckConditions checks the conditions of entries against the questions that they
// will look at: each question that a condition names must be given and be of a kind
// that the condition looks at. [Request.Validate] does so for the entries of the
// request; this is for valid entries that come from elsewhere. It returns nil or an
// [*InvalidError] with paths that begin with at and an index.
func CheckConditions(at string, entries []Entry, questions []Question) error {
	p := problems{steps: []string{at}}
	v := validator{problems: &p}
	v.conditions(entries, kindsOf(questions))
	return p.err()
}
