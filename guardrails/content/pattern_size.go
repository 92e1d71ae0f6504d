package content

import (
	"errors"
	"fmt"
	"regexp/syntax"
)

// Limits for all patterns of a guardrail together, checked when it is stored.
const (
	// maxInstructions allows scanning a text of 64 KiB within the budget of a request.
	maxInstructions = 7_600
	maxRanges       = 100_000   // ranges of classes; bounds memory, at 8 bytes each
	maxExpanded     = 2_000_000 // characters and ranges in classes; bounds the time to compile
)

// maxStored is the limit for all patterns of a request, which may come from guardrails
// stored before the limits above existed. With so many instructions the budget suffices
// for 2.5 kB of text.
const maxStored = 200_000

// size is the cost of storing and running patterns.
type size struct{ instructions, ranges, expanded int }

func (s size) plus(t size) size {
	return size{s.instructions + t.instructions, s.ranges + t.ranges, s.expanded + t.expanded}
}

// bytes returns about how much memory the patterns take.
func (s size) bytes() int { return 16*s.instructions + 8*s.ranges }

const (
	instructionUnit = "instructions"
	rangeUnit       = "ranges in classes"
	expandedUnit    = "characters and ranges to expand in classes"
)

// ErrTooLarge is wrapped by the error of a pattern that is too expensive to compile or to
// run. That error also wraps [ErrPattern].
var ErrTooLarge = errors.New("it is too expensive to run")

func tooLarge(have int, unit string, most int) error {
	return fmt.Errorf("%w: %w: %d %s, at most %d are possible", ErrPattern, ErrTooLarge, have, unit, most)
}

// PatternBudget limits the cost of patterns that are stored together: 7,600 instructions,
// and limits of the memory and the time to compile. The zero value is a full budget. It
// is not safe for concurrent use.
type PatternBudget struct{ used size }

// Take compiles a pattern and subtracts its cost from the budget. A pattern is a regular
// expression in ECMAScript syntax without flags. It runs in linear time. Take refuses
//
//   - look-around and back-references;
//   - a quantifier without an upper bound inside another such quantifier, as in (a+)+, or
//     around equal alternatives, as in (a|a)*;
//   - letters and digits that are escaped without need, such as \A, because their meaning
//     differs between languages;
//   - half a surrogate pair, counts above 1,000 and more than 100,000 characters;
//   - a short pattern that compiles to a large program.
//
// Every error wraps [ErrPattern]. After an [ErrTooLarge] do not call Take again, because
// compiling further patterns costs time, too.
func (b *PatternBudget) Take(source string) error {
	p, err := compilePattern(source)
	if err != nil {
		return err
	}
	b.used = b.used.plus(p.size)
	return b.used.check()
}

// check returns an ErrTooLarge if the patterns exceed a limit together.
func (s size) check() error {
	for _, c := range []struct {
		have int
		unit string
		most int
	}{
		{s.instructions, instructionUnit, maxInstructions},
		{s.ranges, rangeUnit, maxRanges},
		{s.expanded, expandedUnit, maxExpanded},
	} {
		if c.have > c.most {
			return tooLarge(c.have, c.unit+" in all patterns up to this one", c.most)
		}
	}
	return nil
}

// instructions estimates how many instructions a tree compiles to, without expanding
// repetitions.
func instructions(tree *syntax.Regexp) int {
	n := 0
	for _, sub := range tree.Sub {
		n += instructions(sub) + 1
	}
	switch tree.Op {
	case syntax.OpLiteral:
		n += len(tree.Rune)
	case syntax.OpRepeat:
		n *= max(tree.Min, tree.Max, 1)
	case syntax.OpConcat:
		n -= len(tree.Sub) - 1
	default:
		n++
	}
	return n
}
