package systemone

import "strconv"

const (
	maxNesting    = 5  // of nested conditions, the leaf counted
	maxConditions = 20 // of one list

	mustBeBound  = "must be a number from 0 to 1"
	mustBeBounds = "must be two numbers from 0 to 1, the lower one first"
	onlyWithWhen = "must not be given without when"
)

// models notes the problems of the names of models at the current place. It bounds
// their length, because refusals repeat them.
func (v *validator) models(list []Entry) {
	v.atMost(len(list), maxModels, "models")
	for i := range list[:min(len(list), maxModels)] {
		if e := &list[i]; e.Model == "" || len(e.Model) > maxName {
			v.enter(strconv.Itoa(i))
			v.model(e)
			v.leave()
		}
	}
}

func (v *validator) model(e *Entry) {
	problem := tooLong(e.Model)
	if e.Model == "" && !v.failed() { // the decoder notes a name that it cannot read
		problem = mustNotBeEmpty
	}
	switch {
	case problem == "":
	case e.isText():
		v.fail(problem)
	default:
		v.failAt("model", problem)
	}
}

// isText reports whether an entry is a text on the wire.
func (e Entry) isText() bool { return e == Entry{Model: e.Model} }

// conditions notes the problems of the conditions of models at the current place.
// Conditions may name the questions whose kinds are given; nil accepts every name.
func (v *validator) conditions(list []Entry, kinds kinds) {
	for i := range list[:min(len(list), maxModels)] {
		if e := &list[i]; !e.isText() {
			v.enter(strconv.Itoa(i))
			v.group(e, kinds)
			v.leave()
		}
	}
}

// group notes the problems of all members of an entry but the model.
func (v *validator) group(e *Entry, kinds kinds) {
	oneOf(v, "scope", e.Scope, ScopeMatched, ScopeAll)
	if e.When != nil {
		v.enter("when")
		v.condition(e.When, 1, kinds)
		if problem := tooLong(e.Calibration); problem != "" {
			v.failAt("calibration", problem)
		}
		v.leave()
		return
	}
	if e.Scope != "" {
		v.failAt("scope", onlyWithWhen)
	}
	if e.Required {
		v.failAt("required", onlyWithWhen)
	}
	if e.Calibration != "" {
		v.failAt("when", mustBeGiven) // a calibration is a member of when
	}
}

// kinds returns the kind of a question, and whether there is one of that name.
type kinds func(question string) (Kind, bool)

func kindsOf(questions []Question) kinds {
	find := finder{size: len(questions), name: func(i int) string { return questions[i].Name }}
	return func(question string) (Kind, bool) {
		at := find.at(0, question)
		if at < 0 {
			return "", false
		}
		return questions[at].Kind, true
	}
}

// condition notes the problems of a condition at the current place and depth.
func (v *validator) condition(c *Condition, depth int, kinds kinds) {
	if depth > maxNesting {
		v.fail("must not be nested deeper than " + strconv.Itoa(maxNesting) + " conditions")
		return
	}
	if c.forms() != 1 {
		v.fail("must have exactly one of confidenceBelow, probabilityBetween, any, all and atLeast")
	}
	if problem := c.aboutQuestion(kinds); problem != "" {
		v.failAt("question", problem)
	}
	if b := c.ConfidenceBelow; b != nil && !isShare(*b) {
		v.failAt("confidenceBelow", mustBeBound)
	}
	if b := c.ProbabilityBetween; b != nil && !(isShare(b[0]) && isShare(b[1]) && b[0] <= b[1]) {
		v.failAt("probabilityBetween", mustBeBounds)
	}
	if c.Any != nil {
		v.list("any", c.Any, depth, kinds)
	}
	if c.All != nil {
		v.list("all", c.All, depth, kinds)
	}
	if a := c.AtLeast; a != nil {
		v.enter("atLeast")
		v.list("conditions", a.Conditions, depth, kinds)
		if n := len(a.Conditions); n > 0 && (a.Count < 1 || a.Count > n) {
			v.failAt("count", "must be a whole number from 1 to the number of conditions")
		}
		v.leave()
	}
}

// aboutQuestion returns the problem of a condition's question, or "".
func (c *Condition) aboutQuestion(kinds kinds) string {
	if c.Question == "" {
		return ""
	}
	if c.ConfidenceBelow == nil && c.ProbabilityBetween == nil {
		return "must be given only with confidenceBelow or probabilityBetween"
	}
	if problem := tooLong(c.Question); problem != "" || kinds == nil {
		return problem
	}
	switch kind, ok := kinds(c.Question); {
	case !ok:
		return "is not a question of the request"
	case c.ConfidenceBelow != nil && kind == Noul:
		return "must be a choice or a score"
	case c.ProbabilityBetween != nil && kind != Noul:
		return "must be a noul"
	}
	return ""
}

// forms returns how many forms a condition has.
func (c *Condition) forms() (n int) {
	for _, given := range [...]bool{
		c.ConfidenceBelow != nil, c.ProbabilityBetween != nil, c.Any != nil, c.All != nil, c.AtLeast != nil,
	} {
		if given {
			n++
		}
	}
	return n
}

// list notes the problems of the conditions that a member of a condition lists.
func (v *validator) list(name string, list []Condition, depth int, kinds kinds) {
	v.enter(name)
	defer v.leave()
	if len(list) < 1 || len(list) > maxConditions {
		v.fail("must have 1 to " + strconv.Itoa(maxConditions) + " conditions")
	}
	for i := range list[:min(len(list), maxConditions)] {
		v.enter(strconv.Itoa(i))
		v.condition(&list[i], depth+1, kinds)
		v.leave()
	}
}

// isShare reports whether x is in [0, 1].
func isShare(x float64) bool { return x >= 0 && x <= 1 }
