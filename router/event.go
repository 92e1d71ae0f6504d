package router

import (
	"time"

	"github.com/google/uuid"
)

// Event is one billed attempt of an answered call: what activity is made of.
// It never changes.
type Event struct {
	// ID is the call's generation id and the place of the attempt among the
	// billed ones, "gen-dec-…/0". The same id is the same event.
	ID         string
	Admitted   time.Time // the call's, UTC: it counts on this day
	Principal  Principal
	Model      string // namespaced id
	Permaslug  string // with the dated suffix
	Endpoint   uuid.UUID
	Provider   string // display name
	Requests   int64  // 1 on the endpoint that answered (most), else 0
	Prompt     int64  // tokens
	Completion int64
	Reasoning  int64
	Cached     int64
	Cost       Amount // Credit is what was charged
}
