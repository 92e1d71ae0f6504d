package memory

import (
	"slices"
	"sync"

	"github.com/signalbox/signalbox/router"
)

// names finds lines by their names. A line is dropped only long after its window, so a line
// that was found stays valid without the lock.
type names struct {
	mu     sync.RWMutex
	owners map[string]windows
}

// windows are the lines of one owner. They are grouped because the names of a call come owner
// by owner, and owners are long texts.
type windows map[string]*line

// find appends the lines of names to list, in their order; nil for a line that does not
// exist.
func (n *names) find(list []*line, of []router.Line) []*line {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var lines windows
	last := "" // the owner of lines
	for i := range of {
		if lines == nil || of[i].Owner != last {
			last = of[i].Owner
			lines = n.owners[last]
		}
		list = append(list, lines[of[i].Window])
	}
	return list
}

// make is find, and creates the lines that do not exist.
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
		if list[had+i] = lines[name.Window]; list[had+i] == nil { // otherwise another call has created it meanwhile
			list[had+i] = &line{}
			lines[name.Window] = list[had+i]
		}
	}
	return list
}
