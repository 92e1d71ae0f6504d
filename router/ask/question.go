package ask

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// Question is a question without its type: what the tags of a field say, for
// questions that are built at run time by [NewChoice], [NewNoul] and [NewScore].
// Guidance and instructions are a string or any value that [systemone.JSON]
// takes.
type Question struct {
	Name         string   // required; the tag ask
	Instructions any      // required; the tag q
	Options      []Option // of a Choice, required; the tag options
	Yes, No      any      // of a Noul, both or neither; the tags yes and no
	Levels       []Option // of a Score, required, lowest first; the tag levels
	// Default is the answer where no model gives one: an option's name, a level's
	// name, or yes or no. Without a default that is an error. It is the tag
	// default.
	Default string
}

// Option is one option of a [Choice] or one level of a [Score].
//
// Requests have no names for levels. A level is sent as its name, or as "name:
// guidance" if its guidance is a string. Other guidance is sent in place of the
// name.
type Option struct {
	Name     string // required; differs from the others of the question
	Guidance any    // nil for none
}

// spec is a checked question.
type spec struct {
	wire      systemone.Question
	labels    []string // of the options, of the levels, or yes and no
	byDefault int      // index into labels, -1 without a default
}

// The labels of a noul, in the order of its distribution here.
const (
	yesLabel = "yes"
	noLabel  = "no"
)

// check returns the question as it is sent, or the first mistake in it.
func (q *Question) check(kind systemone.Kind) (*spec, error) {
	s := &spec{wire: systemone.Question{Name: q.Name, Kind: kind}, byDefault: -1}
	if err := q.misplaced(kind); err != nil {
		return nil, err
	}
	if q.Name == "" {
		return nil, errors.New("the question has no name")
	}
	if q.Instructions == nil || q.Instructions == "" {
		return nil, errors.New("the question has no instructions (the tag q)")
	}
	var err error
	if s.wire.Instructions, err = systemone.JSON(q.Instructions); err != nil {
		return nil, fmt.Errorf("instructions: %w", err)
	}
	switch kind {
	case systemone.Choice:
		err = s.options(q.Options)
	case systemone.Score:
		err = s.levels(q.Levels)
	default:
		err = s.sides(q.Yes, q.No)
	}
	if err != nil {
		return nil, err
	}
	if q.Default == "" {
		return s, nil
	}
	if s.byDefault = slices.Index(s.labels, q.Default); s.byDefault < 0 {
		return nil, fmt.Errorf("the default %q is none of %s", q.Default, strings.Join(s.labels, ", "))
	}
	return s, nil
}

// misplaced returns an error for members that questions of this kind do not have.
func (q *Question) misplaced(kind systemone.Kind) error {
	switch {
	case kind == systemone.Score && len(q.Options) > 0:
		return errors.New("only a Choice has options; a Score has levels")
	case kind == systemone.Noul && len(q.Options) > 0:
		return errors.New("only a Choice has options; a Noul has yes and no")
	case kind != systemone.Noul && (q.Yes != nil || q.No != nil):
		return errors.New("only a Noul has yes and no")
	case kind != systemone.Score && len(q.Levels) > 0:
		return errors.New("only a Score has levels")
	}
	return nil
}

func (s *spec) options(list []Option) error {
	if len(list) == 0 {
		return errors.New("a Choice needs options")
	}
	names := make(map[string]bool, len(list))
	for _, o := range list {
		guidance, err := s.label("option", o, names)
		if err != nil {
			return err
		}
		s.wire.Options = append(s.wire.Options, systemone.Option{Name: o.Name, Guidance: guidance})
	}
	return nil
}

func (s *spec) levels(list []Option) error {
	if len(list) == 0 {
		return errors.New("a Score needs levels")
	}
	names := make(map[string]bool, len(list))
	for _, o := range list {
		level, err := s.label("level", o, names)
		if err != nil {
			return err
		}
		if text, ok := o.Guidance.(string); ok {
			level = systemone.Text(o.Name + ": " + text)
		} else if level == nil {
			level = systemone.Text(o.Name)
		}
		s.wire.Levels = append(s.wire.Levels, level)
	}
	return nil
}

// label adds the name of an option or level, which must not be in names, and
// returns its guidance.
func (s *spec) label(what string, o Option, names map[string]bool) (guidance []byte, err error) {
	switch {
	case o.Name == "":
		return nil, fmt.Errorf("%s %d has no name", what, len(s.labels)+1)
	case names[o.Name]:
		return nil, fmt.Errorf("the %s %q is given more than once", what, o.Name)
	case o.Guidance == "":
		return nil, fmt.Errorf("the guidance of the %s %q is empty", what, o.Name)
	}
	names[o.Name] = true
	s.labels = append(s.labels, o.Name)
	if o.Guidance == nil {
		return nil, nil
	}
	if guidance, err = systemone.JSON(o.Guidance); err != nil {
		return nil, fmt.Errorf("the guidance of the %s %q: %w", what, o.Name, err)
	}
	return guidance, nil
}

func (s *spec) sides(yes, no any) error {
	s.labels = []string{yesLabel, noLabel}
	if yes == nil && no == nil {
		return nil
	}
	if yes == nil || no == nil || yes == "" || no == "" {
		return errors.New("yes and no are given together or not at all, and neither is empty")
	}
	var err error
	if s.wire.True, err = systemone.JSON(yes); err != nil {
		return fmt.Errorf("yes: %w", err)
	}
	if s.wire.False, err = systemone.JSON(no); err != nil {
		return fmt.Errorf("no: %w", err)
	}
	return nil
}
