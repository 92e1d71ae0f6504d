package systemone

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/jsontext"
)

// pairwise is the largest number of members whose names are compared in pairs.
const pairwise = 8

// duplicates notes the names that occur more than once in an object. The object's
// container is at depth.
func (s *syntax) duplicates(names []span, depth int) {
	if len(names) <= pairwise {
		for i, a := range names {
			for _, b := range names[:i] {
				if s.same(a, b) {
					s.duplicate(s.name(a), depth)
					break
				}
			}
		}
		return
	}
	sorted := make([][]byte, len(names))
	for i, n := range names {
		sorted[i] = s.name(n)
	}
	slices.SortFunc(sorted, bytes.Compare)
	for i, name := range sorted {
		// Report each name once, at its second occurrence.
		if i > 0 && bytes.Equal(sorted[i-1], name) && (i == 1 || !bytes.Equal(sorted[i-2], name)) {
			s.duplicate(name, depth)
		}
	}
}

func (s *syntax) name(n span) []byte { return jsontext.Unquote(s.data[n.lo:n.hi]) }

func (s *syntax) same(a, b span) bool {
	if a.escaped || b.escaped {
		return bytes.Equal(s.name(a), s.name(b))
	}
	return bytes.Equal(s.data[a.lo:a.hi], s.data[b.lo:b.hi])
}

// duplicate notes a name that occurs twice in an object.
func (s *syntax) duplicate(name []byte, depth int) {
	if s.problems.full() {
		return
	}
	for _, at := range s.place[s.base:depth] {
		if at.name.hi > 0 {
			s.problems.enter(string(s.name(at.name)))
		} else {
			s.problems.enter(strconv.Itoa(at.index))
		}
	}
	s.problems.failAt(string(name), givenTwice)
	s.problems.steps = s.problems.steps[:len(s.problems.steps)-(depth-s.base)]
}
