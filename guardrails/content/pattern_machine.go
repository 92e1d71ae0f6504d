package content

import (
	"regexp/syntax"
	"unicode/utf8"
)

// machine runs programs on texts. It simulates all threads in lockstep, so it visits each
// instruction at most once for each character (Pike, as in package regexp). Unlike
// package regexp it counts its work, can be interrupted, and tests each set at most once
// for each character. A machine is not safe for concurrent use. It runs one program after
// the other.
type machine struct {
	meter     *meter
	now       uint32   // sequence number of the current character
	marks     []uint32 // for each instruction, the last character that reached it
	read      []memory // for each set
	cur, next []thread
	stack     []uint32
}

// thread is one way to match: the instruction that reads next, and where the match
// begins.
type thread struct{ pc, start uint32 }

// memory caches whether a set contains the last character that it was tested for.
type memory struct {
	at uint32
	in bool
}

// newMachine returns a machine for any of some programs. It charges its work to the
// meter.
func newMachine(meter *meter, programs []*program) *machine {
	insts, sets := 0, 0
	for _, p := range programs {
		insts, sets = max(insts, len(p.insts)), max(sets, len(p.sets))
	}
	return &machine{
		meter: meter, now: 1, marks: make([]uint32, insts), read: make([]memory, sets),
		cur: make([]thread, insts), next: make([]thread, insts), stack: make([]uint32, insts),
	}
}

// endOfText represents the end of the text as a character.
const endOfText rune = -1

func decode(b []byte, i int) (r rune, size int) {
	if i >= len(b) {
		return endOfText, 0
	}
	if b[i] < utf8.RuneSelf {
		return rune(b[i]), 1
	}
	return utf8.DecodeRune(b[i:])
}

// conditions returns the assertions that are true at i.
func (p *program) conditions(b []byte, i int) syntax.EmptyOp {
	if !p.asserts {
		return 0
	}
	before := endOfText
	if i > 0 {
		before, _ = utf8.DecodeLastRune(b[:i])
	}
	after, _ := decode(b, i)
	return syntax.EmptyOpContext(before, after)
}

// all adds the matches of a program in b that are not empty. Each match costs each steps.
func (m *machine) all(p *program, out []span, b []byte, each int64) ([]span, error) {
	for i := 0; i < len(b); {
		found, ok, err := m.find(p, b, i)
		if !ok || err != nil {
			return out, err
		}
		if found.start < found.end {
			if err := m.meter.charge(each); err != nil {
				return out, err
			}
			out = append(out, found)
		}
		if i == found.end { // an empty match
			_, width := utf8.DecodeRune(b[i:])
			found.end += width
		}
		i = found.end
	}
	return out, nil
}

// find returns the first match in b at or after from: of those that begin first, the one
// that the expression prefers. Assertions see the text before from. Empty matches may be
// left out. Every byte that is read is charged to the meter, whose error ends the search.
func (m *machine) find(p *program, b []byte, from int) (found span, ok bool, err error) {
	i, read, threads := from, 0, 0
	for {
		if threads == 0 {
			if ok {
				break
			}
			start := p.skip(b, i)
			read += start - i
			if i = start; i == len(b) {
				break
			}
			threads, _ = m.step(p, 0, 0, p.conditions(b, i), i)
		}
		r, size := decode(b, i)
		next := i + size
		seed := -1
		if !ok && next < len(b) && p.first[b[next]] {
			seed = next
		}
		var end int
		if threads, end = m.step(p, threads, r, p.conditions(b, next), seed); end >= 0 {
			found, ok = span{end, i}, true
		}
		if size == 0 {
			break
		}
		i, read = next, read+size
		if p.steps(read) >= checkEvery {
			if err := m.spend(p, read); err != nil {
				return span{}, false, err
			}
			read = 0
		}
	}
	return found, ok, m.spend(p, read)
}

// steps returns the cost of reading n bytes.
func (p *program) steps(n int) int64 { return int64(n) * int64(p.size) }

// spend charges the meter for n bytes that a program read. Builtin programs count as work
// of the scan but not against the budget of patterns.
func (m *machine) spend(p *program, n int) error {
	if p.builtin {
		m.meter.chargeBuiltin(n * stepEffort)
		return m.meter.work(p.steps(n) / builtinSteps)
	}
	return m.meter.charge(p.steps(n) + runSteps)
}

// skip returns the first index from i on at which a match can begin.
func (p *program) skip(b []byte, i int) int {
	for i < len(b) && !p.first[b[i]] {
		i++
	}
	return i
}

// step reads r with the first threads of cur and sets cur to the threads that continue.
// It adds a thread for a match that begins at seed, unless seed is -1.
//
// A thread that matched before r ends the step: the later threads are dropped, because
// the expression prefers the match. end is the start of that match, or -1.
func (m *machine) step(p *program, threads int, r rune, cond syntax.EmptyOp, seed int) (n, end int) {
	m.now++
	now, marks, insts, next, stack, depth := m.now, m.marks, p.insts, m.next, m.stack, 0
	end = -1
	for k := 0; k <= threads; k++ {
		pc, start := p.start, uint32(seed) //nolint:gosec // no text has 4 GiB
		if k < threads {
			t := m.cur[k]
			in := &insts[t.pc]
			if in.op == opMatch {
				end = int(t.start)
				break
			}
			if in.op == opRune && rune(in.arg) != r || in.op == opSet && !m.in(p, in.arg, r) { //nolint:gosec // a character
				continue
			}
			pc, start = in.out, t.start
		} else if seed < 0 {
			break
		}
		// Follow the instructions that read nothing, preferred branches first.
		for {
			if marks[pc] != now {
				marks[pc] = now
				switch in := &insts[pc]; in.op {
				case opSplit:
					stack[depth] = in.arg
					depth++
					pc = in.out
					continue
				case opAssert:
					if syntax.EmptyOp(in.arg)&^cond == 0 { //nolint:gosec // conditions
						pc = in.out
						continue
					}
				case opFail:
				default:
					next[n] = thread{pc, start}
					n++
				}
			}
			if depth == 0 {
				break
			}
			depth--
			pc = stack[depth]
		}
	}
	m.cur, m.next = next, m.cur
	return n, end
}

// in reports whether a set contains r. r must be the same character until m.now changes.
func (m *machine) in(p *program, n uint32, r rune) bool {
	if s := &p.sets[n]; uint32(r) < utf8.RuneSelf { //nolint:gosec // the end of the text is large
		return s.ascii[r>>6]>>(r&63)&1 != 0
	}
	return m.inBeyond(p, n, r)
}

func (m *machine) inBeyond(p *program, n uint32, r rune) bool {
	if r == endOfText {
		return false
	}
	known := &m.read[n]
	if known.at != m.now {
		*known = memory{m.now, p.sets[n].has(r)}
	}
	return known.in
}
