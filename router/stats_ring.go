package router

import (
	"iter"
	"sync/atomic"
	"time"
)

// ring keeps one T for each of the last slots of time, without locks. Slots begin
// at whole multiples of width, so a window of n slots reaches back between n-1 and
// n widths.
//
// A slot is replaced, never cleared: a goroutine that still holds a replaced slot
// writes to garbage, which is harmless. A window contains the slots that are
// neither too old nor in the future. A clock that steps back therefore hides newer
// slots until it reaches them again, and loses only those that are overwritten.
type ring[T any] struct {
	width time.Duration
	slots []atomic.Pointer[slot[T]]
}

type slot[T any] struct {
	epoch int64 // the number of the slot since 1970
	value T
}

// newRing returns a ring whose window is n slots long.
func newRing[T any](n int, width time.Duration) ring[T] {
	return ring[T]{width: width, slots: make([]atomic.Pointer[slot[T]], n)}
}

// at returns the slot for now, to add to.
func (r *ring[T]) at(now time.Time) *T {
	epoch := epochOf(now, r.width)
	p := r.place(epoch)
	for {
		s := p.Load()
		if s != nil && s.epoch == epoch {
			return &s.value
		}
		fresh := &slot[T]{epoch: epoch}
		if p.CompareAndSwap(s, fresh) {
			return &fresh.value
		}
	}
}

// window yields the slots of the window that ends now, in no order.
func (r *ring[T]) window(now time.Time) iter.Seq[*T] {
	// The body is this short so that it is inlined and allocates nothing.
	return func(yield func(*T) bool) { r.visit(now, yield) }
}

func (r *ring[T]) visit(now time.Time, yield func(*T) bool) {
	newest := epochOf(now, r.width)
	oldest := newest - int64(len(r.slots)) + 1
	for i := range r.slots {
		s := r.slots[i].Load()
		if s != nil && s.epoch >= oldest && s.epoch <= newest && !yield(&s.value) {
			return
		}
	}
}

func (r *ring[T]) place(epoch int64) *atomic.Pointer[slot[T]] {
	n := int64(len(r.slots))
	return &r.slots[((epoch%n)+n)%n]
}

// epochOf returns the number of the slot that contains now.
func epochOf(now time.Time, width time.Duration) int64 {
	ns, w := now.UnixNano(), int64(width)
	if ns < 0 {
		return (ns+1)/w - 1
	}
	return ns / w
}
