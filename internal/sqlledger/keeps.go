package sqlledger

import (
	"fmt"

	"github.com/signalbox/signalbox/router"
)

// maxKey is the largest total size, in bytes, of the texts of one row. They are keys
// of indexes, and PostgreSQL allows about 2,700 bytes for those.
const maxKey = 2000

// errText reports a hold or an event whose texts cannot be stored. It is returned
// before the operation joins a batch, so that other callers' operations do not fail
// with it.
var errText = fmt.Errorf("sqlledger: a text is too long, is not UTF-8 or contains a zero byte (%w)", router.ErrFinal)

// keepsHold reports whether the texts of a hold can be stored.
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
	return keeps(e.ID) && keeps(p.Account, p.Workspace, p.Member, p.KeyHash, e.Model, e.Permaslug, e.Provider, string(e.Reason))
}

// keeps reports whether texts can be stored and together fit into one key.
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
