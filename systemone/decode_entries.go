package systemone

import (
	"math"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// entries reads models. Of a list with more than maxModels it reads one more than
// that, which the validator then refuses.
func (p *problems) entries(value []byte) []Entry {
	if value[0] != '[' {
		p.fail("must be an array of models")
		return nil
	}
	n := length(value)
	if n == 0 {
		return nil
	}
	list := make([]Entry, 0, min(n, maxModels+1))
	for m := jsontext.Walk(value); m.Next() && m.Index <= maxModels; {
		p.enter(strconv.Itoa(m.Index))
		list = append(list, p.entry(m.Value))
		p.leave()
	}
	return list
}

// entry reads a text or a closed object.
func (p *problems) entry(value []byte) (e Entry) {
	switch value[0] {
	case '"':
		e.Model = p.name(value)
	case '{':
		p.members(value, func(name string, value []byte) bool { return p.entryMember(&e, name, value) })
		if e.Model == "" {
			p.failAt("model", mustBeGiven)
		}
	default:
		p.fail("must be a string or an object")
	}
	return e
}

func (p *problems) entryMember(e *Entry, name string, value []byte) bool {
	switch name {
	case "model":
		if value != nil {
			e.Model = p.name(value)
		}
	case "when":
		if value != nil {
			e.When = new(p.condition(value, 1, &e.Calibration))
		}
	case "scope":
		e.Scope = word(p, value, ScopeMatched, ScopeAll)
	case "required":
		e.Required = p.boolean(value)
	case "shop_refusals":
		e.ShopRefusals = p.boolean(value)
	default:
		return false
	}
	return true
}

// condition reads a condition at some depth. Only the outermost condition may name
// a calibration; for others calibration is nil. What is nested deeper than
// maxNesting is not read; the validator refuses it.
func (p *problems) condition(value []byte, depth int, calibration *string) (c Condition) {
	if depth > maxNesting {
		return c
	}
	p.members(value, func(name string, value []byte) bool {
		switch name {
		case "question":
			if value != nil {
				c.Question = p.name(value)
			}
		case "confidenceBelow":
			if value != nil {
				c.ConfidenceBelow = new(p.bound(value, mustBeBound))
			}
		case "probabilityBetween":
			if value != nil {
				c.ProbabilityBetween = new(p.bounds(value))
			}
		case "any":
			c.Any = p.conditions(value, depth)
		case "all":
			c.All = p.conditions(value, depth)
		case "atLeast":
			if value != nil {
				c.AtLeast = new(p.atLeast(value, depth))
			}
		case "calibration":
			if calibration == nil {
				return false
			}
			if value != nil {
				*calibration = p.name(value)
			}
		default:
			return false
		}
		return true
	})
	return c
}

// conditions reads a list of conditions in one of that depth, at most one more than
// allowed. The list is nil only where value is.
func (p *problems) conditions(value []byte, depth int) []Condition {
	if value == nil {
		return nil
	}
	if value[0] != '[' {
		p.fail("must be an array of conditions")
		return []Condition{}
	}
	list := make([]Condition, 0, min(length(value), maxConditions+1))
	for m := jsontext.Walk(value); m.Next() && m.Index <= maxConditions; {
		p.enter(strconv.Itoa(m.Index))
		list = append(list, p.condition(m.Value, depth+1, nil))
		p.leave()
	}
	return list
}

func (p *problems) atLeast(value []byte, depth int) (a AtLeast) {
	p.members(value, func(name string, value []byte) bool {
		switch name {
		case "count":
			if value != nil {
				a.Count = p.whole(value)
			}
		case "conditions":
			a.Conditions = p.conditions(value, depth)
		default:
			return false
		}
		return true
	})
	return a
}

// bound reads a number. The validator checks its range.
func (p *problems) bound(value []byte, problem string) float64 {
	x, ok := parseFloat(value)
	if !ok {
		p.fail(problem)
	}
	return x
}

// bounds reads an array of two numbers.
func (p *problems) bounds(value []byte) (b [2]float64) {
	if value[0] != '[' || length(value) != len(b) {
		p.fail(mustBeBounds)
		return b
	}
	for m := jsontext.Walk(value); m.Next(); {
		b[m.Index] = p.bound(m.Value, mustBeBounds)
	}
	return b
}

// whole reads a whole number that is not negative. Numbers that are too large for
// an int32, and thus for any rule, become the largest.
func (p *problems) whole(value []byte) int {
	n, ok := ParseCount(value)
	if !ok {
		p.fail("must be a whole number that is not negative")
	}
	return int(min(n, math.MaxInt32))
}
