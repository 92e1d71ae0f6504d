package lease

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// fund is what is known of the calls with the same lines. In another window they
// have other lines. When a limit changes, it begins anew.
type fund struct {
	lines   string   // as in request
	caps    string   // of the latest call
	own     bool     // amounts are of calls with the caller's own credential
	current *slice   // that a call was admitted from last, or nil
	slices  []*slice // all that calls are admitted from
	drawing chan struct{}
	plain   int        // so many calls go to the base before the next slice
	next    router.USD // for how many calls that is made
	used    bool       // since the last Expire
}

// pause is how many calls go to the base when no slice could be drawn.
const pause = 64

// amount is a figure of a fund's calls.
func (f *fund) amount(t router.USD) router.Amount {
	if f.own {
		return router.Amount{Total: t}
	}
	return router.Amount{Credit: t, Total: t}
}

// admits returns a slice that a call may have an amount of until deadline, or nil.
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
	caps     string // that it was checked against
	lines    []router.Line
	deadline time.Time
	size     router.USD // what the hold in the base has, or more there
	out      router.USD // of it, what calls have; never more than size
	calls    int        // that have it
	retired  bool       // no more calls are admitted
	ending   bool       // somebody closes the hold
	back     *part      // that is being given back
	used     bool       // since the last Expire
}

// part is what a slice gives back while it has calls.
type part struct {
	id     uuid.UUID
	amount router.USD
}

func (s *slice) free() router.USD { return s.size - s.out }

// is says whether a request may be met from the slice.
func (s *slice) is(want *request) bool {
	return s.fund.lines == string(want.fund()) && s.caps == string(want.caps())
}

// admits says whether a call may have an amount until deadline.
func (s *slice) admits(amount router.USD, deadline time.Time) bool {
	return s != nil && amount <= s.free() && !deadline.After(s.deadline)
}

// retire admits no more calls from the slice.
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

// over says whether the hold in the base is to be closed, and by the caller: no
// call has anything of it, and none will.
func (s *slice) over() bool {
	if s == nil || !s.retired && s.size > 0 || s.calls > 0 || s.ending {
		return false
	}
	s.retire()
	s.ending = true
	return true
}

// call is a hold that is open, as far as is known here.
type call struct {
	slice    *slice // nil: the base has the hold
	amount   router.USD
	deadline time.Time
	event    router.Event
	busy     int // methods of the base that are under way for it, or have failed
}

// until moves the deadline, never to an earlier one.
func (c *call) until(deadline time.Time) {
	if deadline.After(c.deadline) {
		c.deadline = deadline
	}
}

// part is the call as a hold of the base, with an amount of what it has.
func (c *call) part(id uuid.UUID, amount router.USD) router.Hold {
	return router.Hold{ID: id, Amount: c.slice.fund.amount(amount), Deadline: c.deadline, Event: c.event}
}

// request is what a hold asks of a fund.
type request struct {
	key    []byte // the lines and what is own, then the caps
	lines  int    // length of the first
	amount router.USD
	own    bool
}

func (r *request) fund() []byte { return r.key[:r.lines] }
func (r *request) caps() []byte { return r.key[r.lines:] }

// requested says what h asks for, and whether a slice is for such holds. It
// appends the key to buffer: lengths stand before what varies, so two keys are
// equal only where all lines are, or all caps.
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

// fund returns that of a request, and what it has drawn under other caps.
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

// times multiplies and stays at the largest USD.
func times(n, amount router.USD) router.USD {
	if amount > math.MaxInt64/n {
		return math.MaxInt64
	}
	return n * amount
}
