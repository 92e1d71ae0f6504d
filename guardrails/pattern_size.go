package guardrails

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

// errTooLarge is every error about a size.
var errTooLarge = errors.New("it is too expensive to run")

func tooLarge(have int, unit string, most int) error {
	return fmt.Errorf("%w: %w: %d %s, at most %d are possible", ErrPattern, errTooLarge, have, unit, most)
}

// check refuses what a guardrail may not have together.
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
