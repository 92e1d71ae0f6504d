package split

import (
	"strconv"

	"github.com/signalbox/signalbox/systemone"
)

// maxName is the longest name of a question, in characters, that
// [systemone.Request.Validate] accepts.
const maxName = 256

// names makes the names of chunks: the choice's own name, because a model may read
// it, and a number that no other chunk has.
type names struct {
	request []systemone.Question
	taken   map[string]bool // the names in request; made with the first name
	last    int
}

// next returns a new name: "desk" gives "desk_1". It cuts a name that leaves no room
// for the number.
func (n *names) next(of string) string {
	if n.taken == nil {
		n.taken = make(map[string]bool, len(n.request))
		for i := range n.request {
			n.taken[n.request[i].Name] = true
		}
	}
	for {
		n.last++
		number := "_" + strconv.Itoa(n.last)
		if name := head(of, maxName-len(number)) + number; !n.taken[name] {
			return name
		}
	}
}

// head returns the first n characters of s.
func head(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
