package memory

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/router"
)

// names finds lines by what they are called. A line is never forgotten, so that
// what was found stays right without the lock.
type names struct {
	mu    sync.RWMutex
	lines map[router.Line]*line
}

// find appends the lines of the names, in their order, to list; nil for those
// never used.
func (n *names) find(list []*line, of []router.Line) []*line {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for i := range of {
		list = append(list, n.lines[of[i]])
	}
	return list
}

// make is find, and makes the lines that there are not.
func (n *names) make(list []*line, of []router.Line) []*line {
	had := len(list)
	list = n.find(list, of)
	if !slices.Contains(list[had:], nil) {
		return list
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range of {
		on := n.lines[of[i]] // another call may have made it meanwhile
		if on == nil {
			on = &line{}
			n.lines[of[i]] = on
		}
		list[had+i] = on
	}
	return list
}
