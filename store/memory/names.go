package memory

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/router"
)

// names finds lines by what they are called. A line is forgotten only when its
// window is long over, so that what was found stays right without the lock.
type names struct {
	mu     sync.RWMutex
	owners map[string]windows
}

// windows are the lines of an owner. Those of a call stand owner by owner, and
// an owner's text is long.
type windows map[string]*line

// find appends the lines of the names, in their order, to list; nil for those
// never used.
func (n *names) find(list []*line, of []router.Line) []*line {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var lines windows
	last := "" // the owner whose lines these are
	for i := range of {
		if lines == nil || of[i].Owner != last {
			last = of[i].Owner
			lines = n.owners[last]
		}
		list = append(list, lines[of[i].Window])
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
	for i, name := range of {
		lines, ok := n.owners[name.Owner]
		if !ok {
			lines = windows{}
			n.owners[name.Owner] = lines
		}
		if list[had+i] = lines[name.Window]; list[had+i] == nil { // else another call has made it meanwhile
			list[had+i] = &line{}
			lines[name.Window] = list[had+i]
		}
	}
	return list
}
