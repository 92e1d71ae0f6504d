package content

import (
	"errors"
	"fmt"
	"regexp/syntax"
)

// Bounds of all patterns of a guardrail together, when it is written.
const (
	// maxInstructions lets a text of 64 KiB be scanned within the budget of a
	// request.
	maxInstructions = 7_600
	maxRanges       = 100_000   // of classes; bounds memory, as 8 bytes each
	maxExpanded     = 2_000_000 // characters and ranges that classes are made of; bounds the time to compile
)

// maxStored is how many instructions the patterns on a request may have that
// were stored before there were bounds. With so many the budget ends after
// 2.5 kB of text.
const maxStored = 200_000

// size is what patterns cost to keep and to run.
type size struct{ instructions, ranges, expanded int }

func (s size) plus(t size) size {
	return size{s.instructions + t.instructions, s.ranges + t.ranges, s.expanded + t.expanded}
}

// bytes is about how much memory they take.
func (s size) bytes() int { return 16*s.instructions + 8*s.ranges }

const (
	instructionUnit = "instructions"
	rangeUnit       = "ranges in classes"
	expandedUnit    = "characters and ranges to expand in classes"
)

// ErrTooLarge is the error of a pattern that is too expensive to compile or to run.
// It is an [ErrPattern], too.
var ErrTooLarge = errors.New("it is too expensive to run")

func tooLarge(have int, unit string, most int) error {
	return fmt.Errorf("%w: %w: %d %s, at most %d are possible", ErrPattern, ErrTooLarge, have, unit, most)
}

// PatternBudget is what the patterns that are stored together may cost: 7,600
// instructions, and bounds of the memory and the time that they take to compile. The
// zero value has all of it left. It is not safe for concurrent use.
type PatternBudget struct{ used size }

// Take compiles a pattern and takes its cost from the budget. A pattern is a regular
// expression in the syntax of ECMAScript without flags, and runs in linear time. Take
// refuses
//
//   - look-around, back-references and quantifiers without an upper bound inside
//     of another such, as in (a+)+, or of equal alternatives, as in (a|a)*;
//   - letters and digits that are escaped without need, such as \A, which mean
//     different things in different languages;
//   - half of a surrogate pair, counts above 1,000, more than 100,000
//     characters, and what is small to write but large to run.
//
// The error is an [ErrPattern]. After an [ErrTooLarge] it makes no sense to go on:
// reading more patterns is work, too.
func (b *PatternBudget) Take(source string) error {
	p, err := compilePattern(source)
	if err != nil {
		return err
	}
	b.used = b.used.plus(p.size)
	return b.used.check()
}

// check refuses what patterns may not have together.
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

// instructions estimates how many instructions a tree compiles to, without
// writing out its repetitions.
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
