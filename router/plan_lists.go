package router

import (
	"math"
	"math/bits"
	"slices"
)

// nameLists are the provider lists of all rules, in the order in which they apply.
// Each list is one bit of a word, so that one comparison checks an endpoint against
// 64 lists.
type nameLists struct {
	verdicts []verdict // by list: the verdict on an endpoint that the list removes
	allowing []uint64  // by word: the bits of the lists that are allow-lists
	named    []uint64  // by word and target number: the bits of the lists that name the target
	targets  int       // how many target numbers there are
}

const listsPerWord = 64

func (l *nameLists) reset(targets int) {
	l.verdicts, l.allowing, l.named, l.targets = l.verdicts[:0], l.allowing[:0], l.named[:0], targets
}

// judge returns the verdict of the first list that removes the endpoint.
func (l *nameLists) judge(s *spec) verdict {
	for i, allowing := range l.allowing {
		named := l.named[i*l.targets:]
		if wrong := (named[s.provider] | named[s.tag]) ^ allowing; wrong != 0 {
			return l.verdicts[i*listsPerWord+bits.TrailingZeros64(wrong)]
		}
	}
	return verdict{}
}

// addList adds an allow-list or an ignore-list.
func (p *planner) addList(names []string, v verdict) {
	l := &p.lists
	bit := uint64(1) << (len(l.verdicts) % listsPerWord)
	if bit == 1 {
		l.allowing = append(l.allowing, 0)
		n := len(l.named)
		l.named = slices.Grow(l.named, l.targets)[:n+l.targets]
		clear(l.named[n:])
	}
	if v.reason == FilterAllowedProviders {
		l.allowing[len(l.allowing)-1] |= bit
	}
	l.verdicts = append(l.verdicts, v)
	named := l.named[len(l.named)-l.targets:]
	for _, name := range names {
		if t, known := p.target(name); known {
			named[t] |= bit
		}
	}
}

const noEntry = math.MaxInt32

// enter stores the first position of each name in the request's order.
func (p *planner) enter(order []string) {
	n := p.in.Catalog.nTargets
	p.entries = slices.Grow(p.entries[:0], n)[:n]
	for i := range p.entries {
		p.entries[i] = noEntry
	}
	for i, name := range order {
		if t, known := p.target(name); known {
			p.entries[t] = min(p.entries[t], int32(i))
		}
	}
}

// entry returns an endpoint's first position in the request's order, or noEntry.
func (p *planner) entry(s *spec) int32 { return min(p.entries[s.provider], p.entries[s.tag]) }
