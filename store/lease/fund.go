package lease

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// fund is the state of the calls with the same lines. In another window they have other
// lines, and so another fund. A fund starts again when a limit changes.
type fund struct {
	lines   string   // key of the lines, as in request
	caps    string   // key of the latest call's caps
	own     bool     // calls with the caller's own credential: amounts count in total only
	current *slice   // the slice that admitted the last call, or nil
	slices  []*slice // the slices that admit calls
	drawing chan struct{}
	plain   int        // calls to send to the base before the next slice is drawn
	next    router.USD // how many calls the next slice is for
	used    bool       // since the last Expire
}

// pause is how many calls go to the base after no slice could be drawn.
const pause = 64

// amount returns a sum as an amount of the fund's kind.
func (f *fund) amount(t router.USD) router.Amount {
	if f.own {
		return router.Amount{Total: t}
	}
	return router.Amount{Credit: t, Total: t}
}

// admits returns a slice with room for an amount until deadline, or nil.
func (f *fund) admits(amount router.USD, deadline time.Time) *slice {
	if f.current.admits(amount, deadline) {
		return f.current
	}
	for _, s := range f.slices {
		if s.admits(amount, deadline) {
			f.current = s
			return s
		}
	}
	return nil
}

// slice is a hold in the base that calls are admitted from.
type slice struct {
	id       uuid.UUID
	fund     *fund
	caps     string // key of the caps that it was reserved under
	lines    []router.Line
	deadline time.Time
	size     router.USD // amount of the hold in the base, or less
	out      router.USD // the part that calls have; at most size
	calls    int        // number of these calls
	retired  bool       // admits no more calls
	ending   bool       // a goroutine is closing the hold
	back     *part      // the part that is being given back
	used     bool       // since the last Expire
}

// part is the part of a slice with calls that is given back.
type part struct {
	id     uuid.UUID
	amount router.USD
}

func (s *slice) free() router.USD { return s.size - s.out }

// is reports whether the slice has the lines and the caps of a request.
func (s *slice) is(want *request) bool {
	return s.fund.lines == string(want.fund()) && s.caps == string(want.caps())
}

// admits reports whether the slice has room for an amount until deadline.
func (s *slice) admits(amount router.USD, deadline time.Time) bool {
	return s != nil && amount <= s.free() && !deadline.After(s.deadline)
}

// retire stops admitting calls from the slice.
func (s *slice) retire() {
	s.retired = true
	f := s.fund
	if f.current == s {
		f.current = nil
	}
	if at := slices.Index(f.slices, s); at >= 0 {
		f.slices = slices.Delete(f.slices, at, at+1)
	}
}

// over reports whether the caller must close the hold in the base: no call has a part of the
// slice, and none will. It returns true once.
func (s *slice) over() bool {
	if s == nil || !s.retired && s.size > 0 || s.calls > 0 || s.ending {
		return false
	}
	s.retire()
	s.ending = true
	return true
}

// call is a hold that this process believes to be open.
type call struct {
	slice    *slice // nil if the base has the hold
	amount   router.USD
	deadline time.Time
	event    router.Event
	busy     int // calls to the base for this hold that are running or have failed
}

// until moves the deadline, unless to an earlier one.
func (c *call) until(deadline time.Time) {
	if deadline.After(c.deadline) {
		c.deadline = deadline
	}
}

// part returns a hold for the base with a part of the call's amount.
func (c *call) part(id uuid.UUID, amount router.USD) router.Hold {
	return router.Hold{ID: id, Amount: c.slice.fund.amount(amount), Deadline: c.deadline, Event: c.event}
}

// request is a hold, in the form in which funds and slices are compared with it.
type request struct {
	key    []byte // the lines and the kind, followed by the caps
	lines  int    // length of the first part
	amount router.USD
	own    bool
}

func (r *request) fund() []byte { return r.key[:r.lines] }
func (r *request) caps() []byte { return r.key[r.lines:] }

// requested returns the request of h, and whether slices can serve such holds. It appends the
// key to buffer. Each variable part is preceded by its length, so that equal keys mean equal
// lines, or equal caps.
func requested(h *router.Hold, buffer []byte) (request, bool) {
	own := h.Amount.Credit == 0
	if h.Amount.Total <= 0 || len(h.Lines) == 0 || !own && h.Amount.Credit != h.Amount.Total {
		return request{}, false
	}
	key := buffer
	for i := range h.Lines {
		line := &h.Lines[i]
		key = append(binary.AppendUvarint(key, uint64(len(line.Owner))), line.Owner...)
		key = append(binary.AppendUvarint(key, uint64(len(line.Window))), line.Window...)
	}
	key = append(key, flag(own))
	lines := len(key)
	for i := range h.Caps {
		c := &h.Caps[i]
		at := slices.Index(h.Lines, c.Line)
		if at < 0 {
			return request{}, false
		}
		key = append(binary.AppendVarint(binary.AppendUvarint(key, uint64(at)), int64(c.Max)), flag(c.BYOK))
	}
	return request{key: key, lines: lines, amount: h.Amount.Total, own: own}, true
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// fund returns the fund of a request, and its slices with other caps.
func (l *Ledger) fund(want *request) (f *fund, old []*slice) {
	f = l.funds[string(want.fund())]
	if f == nil {
		f = &fund{lines: string(want.fund()), caps: string(want.caps()), own: want.own, plain: l.plain, next: 2}
		l.funds[f.lines] = f
	}
	f.used = true
	if f.caps != string(want.caps()) {
		old, f.current, f.slices = f.slices, nil, nil
		f.caps, f.plain, f.next = string(want.caps()), l.plain, 2
	}
	return f, old
}

// times returns n * amount, at most the largest USD.
func times(n, amount router.USD) router.USD {
	if amount > math.MaxInt64/n {
		return math.MaxInt64
	}
	return n * amount
}
