package sqlledger

import (
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// maxKey is how many bytes the texts of one row may have together: they are
// keys of indexes, of which PostgreSQL takes some 2,700.
const maxKey = 2000

// errText is a hold or an event that cannot be stored. It is refused before it
// is in a transaction with those of other callers.
var errText = fmt.Errorf("sqlledger: a text is too long, or has a byte that no text may have (%w)", router.ErrFinal)

// keepsHold says whether the texts of a hold can be stored.
func keepsHold(h *router.Hold) bool {
	for _, line := range h.Lines {
		if !keeps(line.Owner, line.Window) {
			return false
		}
	}
	return keepsEvent(&h.Event)
}

func keepsEvents(events []router.Event) bool {
	for i := range events {
		if !keepsEvent(&events[i]) {
			return false
		}
	}
	return true
}

func keepsEvent(e *router.Event) bool {
	p := &e.Principal
	return keeps(e.ID) && keeps(p.Account, p.Workspace, p.Member, p.KeyHash, e.Model, e.Permaslug, e.Provider)
}

// keeps says whether texts fit into one key.
func keeps(texts ...string) bool {
	size := 0
	for _, text := range texts {
		size += len(text)
		if !router.Storable(text) {
			return false
		}
	}
	return size <= maxKey
}
