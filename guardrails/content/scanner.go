package content

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// Scanner is a set of filters, ready for use. [Engine.Scanner] makes one. It is safe
// for concurrent use and never changes: make one for each set of filters, and keep
// it.
type Scanner struct {
	engine   *Engine
	rules    []rule
	uses     [kinds]bool
	programs []*program // of all patterns
}

// where says which part of a request a string stands in.
type where uint8

const (
	inState     where = iota // what the user wrote
	inQuestions              // what the program asks: instructions and criteria
	places
)

// kind is what a rule looks for.
type kind uint8

const (
	kindEmail kind = iota
	kindPhone
	kindSSN
	kindCard
	kindIP
	kindPerson
	kindAddress
	kindInjection
	kindPattern
	kinds
)

// builtins are the kinds that have a slug, in their order.
func builtins() [kinds - 1]struct{ slug, label, title string } {
	return [...]struct{ slug, label, title string }{
		kindEmail:     {Email, "[EMAIL]", "Email address"},
		kindPhone:     {Phone, "[PHONE]", "Phone number"},
		kindSSN:       {SSN, "[SSN]", "Social Security number"},
		kindCard:      {CreditCard, "[CREDIT_CARD]", "Credit card number"},
		kindIP:        {IPAddress, "[IP_ADDRESS]", "IP address"},
		kindPerson:    {PersonName, "[PERSON_NAME]", "Person name"},
		kindAddress:   {Address, "[ADDRESS]", "Address"},
		kindInjection: {PromptInjection, "[PROMPT_INJECTION]", "Prompt injection"},
	}
}

// BuiltinLabel returns what a builtin filter puts in place of what it redacts,
// "" if there is no filter with that slug.
func BuiltinLabel(slug string) string {
	for _, b := range builtins() {
		if b.slug == slug {
			return b.label
		}
	}
	return ""
}

// rule is a filter, or several that look for the same, ready for use.
type rule struct {
	kind    kind
	slug    string
	pattern *pattern
	label   string // takes the place of what is redacted
	title   string // names the filter in messages
	acts    [places]act
}

// act is what a rule does in one part of a request.
type act struct {
	on        bool
	action    Action
	guardrail uuid.UUID
	scope     string
}

// Scanner makes a scanner of filters. Of several that look for the same, the one
// with the strongest action acts, of equal ones the first. The order of messages is
// that of the builtins in the interface, then that of the patterns.
//
// An error is an [ErrConfig]. It is an [ErrPattern] as well where a pattern cannot be
// used, or where all of them have more than 200,000 instructions together.
func (e *Engine) Scanner(filters []Filter) (*Scanner, error) {
	s := &Scanner{engine: e}
	for i, f := range filters {
		if err := s.add(f); err != nil {
			return nil, fmt.Errorf("%w: filter %d: %w", ErrConfig, i, err)
		}
	}
	if n := s.size().instructions; n > maxStored {
		return nil, fmt.Errorf("%w: %w", ErrConfig, tooLarge(n, instructionUnit+" in all patterns", maxStored))
	}
	slices.SortStableFunc(s.rules, func(a, b rule) int { return cmp.Compare(a.kind, b.kind) })
	for _, r := range s.rules {
		s.uses[r.kind] = true
		if r.kind == kindPattern {
			s.programs = append(s.programs, r.pattern.program)
		}
	}
	if s.uses[kindInjection] {
		s.programs = append(s.programs, e.injection.list...)
	}
	return s, nil
}

// Bytes returns about how much memory the patterns of s take.
func (s *Scanner) Bytes() int { return s.size().bytes() }

// size is that of all patterns.
func (s *Scanner) size() size {
	var sum size
	for _, r := range s.rules {
		if r.pattern != nil {
			sum = sum.plus(r.pattern.size)
		}
	}
	return sum
}

// add makes f a rule, or joins it with the one that looks for the same.
func (s *Scanner) add(f Filter) error {
	r, err := newRule(f)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(s.rules, func(have rule) bool { return have.sameAs(r) })
	if n < 0 {
		n = len(s.rules)
		s.rules = append(s.rules, r)
	}
	have := &s.rules[n]
	this := act{on: true, action: f.Action, guardrail: f.Guardrail, scope: f.Scope}
	for place := range places {
		if place == inQuestions && f.UserOnly && r.kind == kindInjection {
			continue
		}
		if old := have.acts[place]; !old.on || this.action > old.action {
			have.acts[place] = this
			have.label, have.title = r.label, r.title
		}
	}
	return nil
}

func (r rule) sameAs(other rule) bool {
	return r.kind == other.kind && (r.kind != kindPattern || r.pattern.source == other.pattern.source)
}

func newRule(f Filter) (rule, error) {
	if f.Slug != "" {
		for k, b := range builtins() {
			if b.slug == f.Slug {
				return rule{kind: kind(k), slug: b.slug, label: b.label, title: b.title}, nil
			}
		}
		return rule{}, fmt.Errorf("no builtin %q", f.Slug)
	}
	pattern, err := compilePattern(f.Pattern)
	if err != nil {
		return rule{}, err
	}
	r := rule{kind: kindPattern, pattern: pattern, label: "[REDACTED]", title: "[BLOCKED]"}
	if f.Label != "" {
		r.label, r.title = f.Label, f.Label
	}
	return r, nil
}
