package content

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// opcode is the operation of an instruction.
type opcode uint8

const (
	opFail   opcode = iota
	opSplit         // continues at out, and with lower priority at arg
	opAssert        // continues at out if the assertions arg are true
	opMatch         // ends a match; this opcode and those below wait for the next character
	opRune          // reads the character arg
	opSet           // reads a character of set arg
)

type inst struct {
	op       opcode
	out, arg uint32
}

// charset is a set of characters: ASCII as bits, all as sorted ranges.
type charset struct {
	ascii  [2]uint64
	ranges []rune // pairs of first and last
}

// program is a compiled regular expression for a [machine]. It is immutable.
type program struct {
	insts   []inst
	sets    []charset
	start   uint32
	first   [256]bool // bytes that can begin a match that is not empty
	asserts bool
	builtin bool // a phrase of this package, not a custom pattern
	size    int  // number of instructions in regexp/syntax
	ranges  int  // number of ranges in all sets
}

func newProgram(tree *syntax.Regexp) (*program, error) {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	p := &program{insts: make([]inst, len(prog.Inst)), start: follow(prog, prog.Start), size: len(prog.Inst)}
	known := map[string]uint32{}
	for i := range prog.Inst {
		in := &prog.Inst[i]
		to := &p.insts[i]
		to.out = follow(prog, int(in.Out))
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			to.op, to.arg = opSplit, follow(prog, int(in.Arg))
		case syntax.InstEmptyWidth:
			to.op, to.arg = opAssert, in.Arg
			p.asserts = true
		case syntax.InstMatch:
			to.op = opMatch
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			p.reads(to, rangesOf(in), known)
		case syntax.InstFail, syntax.InstCapture, syntax.InstNop:
		}
	}
	p.setFirst()
	return p, nil
}

// follow returns the first instruction from pc on that is not a no-op.
func follow(prog *syntax.Prog, pc int) uint32 {
	for {
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstCapture, syntax.InstNop:
			pc = int(in.Out)
		default:
			return uint32(pc) //nolint:gosec // an index
		}
	}
}

// rangesOf returns the characters that an instruction reads.
func rangesOf(in *syntax.Inst) []rune {
	switch {
	case in.Op == syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case in.Op == syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case len(in.Rune) != 1:
		return in.Rune
	}
	r := in.Rune[0]
	list := []rune{r, r}
	if in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0 { //nolint:gosec // flags
		list = list[:0]
		all := []rune{r}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			all = append(all, other)
		}
		slices.Sort(all)
		for _, other := range all {
			list = append(list, other, other)
		}
	}
	return list
}

// reads turns in into an instruction that reads a character in ranges. Equal sets are
// stored once.
func (p *program) reads(in *inst, ranges []rune, known map[string]uint32) {
	switch {
	case len(ranges) == 0:
		return
	case len(ranges) == 2 && ranges[0] == ranges[1]:
		in.op, in.arg = opRune, uint32(ranges[0]) //nolint:gosec // a character
		return
	}
	in.op = opSet
	var key []byte
	for _, r := range ranges {
		key = binary.AppendUvarint(key, uint64(r)) //nolint:gosec // a character
	}
	n, ok := known[string(key)]
	if !ok {
		n = uint32(len(p.sets)) //nolint:gosec // an index
		known[string(key)] = n
		p.sets = append(p.sets, newCharset(ranges))
		p.ranges += len(ranges) / 2
	}
	in.arg = n
}

func newCharset(ranges []rune) charset {
	s := charset{ranges: slices.Clone(ranges)}
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], unicode.MaxASCII); r++ {
			s.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return s
}

// has reports whether a character beyond ASCII is in the set.
func (s *charset) has(r rune) bool {
	n := sort.Search(len(s.ranges)/2, func(i int) bool { return s.ranges[2*i+1] >= r })
	return 2*n < len(s.ranges) && s.ranges[2*n] <= r
}

// setFirst sets the bytes that a match can begin with. If one of them is beyond ASCII,
// all bytes beyond ASCII count.
func (p *program) setFirst() {
	m := newMachine(nil, []*program{p})
	n, _ := m.step(p, 0, 0, ^syntax.EmptyOp(0), 0)
	for _, t := range m.cur[:n] {
		switch in := &p.insts[t.pc]; in.op {
		case opRune:
			if in.arg < utf8.RuneSelf {
				p.first[in.arg] = true
			} else {
				p.beyond()
			}
		case opSet:
			s := &p.sets[in.arg]
			for c := range utf8.RuneSelf {
				p.first[c] = p.first[c] || s.ascii[c>>6]>>(c&63)&1 != 0
			}
			if s.ranges[len(s.ranges)-1] >= utf8.RuneSelf {
				p.beyond()
			}
		default:
		}
	}
}

func (p *program) beyond() {
	for c := utf8.RuneSelf; c < len(p.first); c++ {
		p.first[c] = true
	}
}
