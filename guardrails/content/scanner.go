package content

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// Scanner is a compiled set of filters. [Engine.Scanner] makes one. It is immutable and
// safe for concurrent use: make one for each set of filters and keep it.
type Scanner struct {
	engine   *Engine
	rules    []rule
	uses     [kinds]bool
	programs []*program // one for each pattern
}

// where is the part of a request that contains a string.
type where uint8

const (
	inState     where = iota // the state
	inQuestions              // questions and provider options
	places
)

// kind is what a rule searches for.
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

// builtins returns the builtin filters, indexed by kind.
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

// BuiltinLabel returns the label that replaces what a builtin filter redacts, or "" if
// there is no builtin with that slug.
func BuiltinLabel(slug string) string {
	for _, b := range builtins() {
		if b.slug == slug {
			return b.label
		}
	}
	return ""
}

// rule is a compiled filter, or several equal ones.
type rule struct {
	kind    kind
	slug    string
	pattern *pattern
	label   string // replaces redacted text
	title   string // name of the filter in messages
	acts    [places]act
}

// act is what a rule does in one part of a request.
type act struct {
	on        bool
	action    Action
	guardrail uuid.UUID
	scope     string
}

// Scanner compiles filters. Of filters that search for the same, the one with the
// strongest action applies, or the first if the actions are equal. Messages come in the
// order of the builtins in the HTTP interface, then in that of the patterns.
//
// Every error wraps [ErrConfig]. It also wraps [ErrPattern] if a pattern cannot be used,
// or if all patterns together have more than 200,000 instructions.
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

// Bytes returns about how many bytes the patterns of s take in memory.
func (s *Scanner) Bytes() int { return s.size().bytes() }

// size returns the total size of all patterns.
func (s *Scanner) size() size {
	var sum size
	for _, r := range s.rules {
		if r.pattern != nil {
			sum = sum.plus(r.pattern.size)
		}
	}
	return sum
}

// add compiles f to a rule, or merges it into the rule that searches for the same.
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
		return rule{}, fmt.Errorf("there is no builtin filter %q", f.Slug)
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
