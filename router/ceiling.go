package router

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	recentCalls = 1_000
	recentTime  = 10 * time.Minute
)

// escalations are the latest answered calls for a model made of stages, to compare
// how many asked a later stage with [Model.MaxEscalated]. A call that stays in its
// first stage takes no lock. It is safe for concurrent use.
type escalations struct {
	next  atomic.Uint64             // how many calls were noted
	calls [recentCalls]atomic.Int64 // by number modulo the length

	deciding sync.Mutex // so that calls which escalate at once count each other
}

// A call is its time in Unix milliseconds, above two bits. The zero value is none.
const (
	callNoted     = 1 << iota // there is a call
	callEscalated             // it asked a later stage
	callTime      = iota      // bits before the time
)

// note adds a call and returns its place and what is there.
func (l *escalations) note(now time.Time, kind int64) (place uint64, call int64) {
	place, call = (l.next.Add(1)-1)%recentCalls, now.UnixMilli()<<callTime|callNoted|kind
	l.calls[place].Store(call)
	return place, call
}

// escalate adds a call that asks a later stage, unless the share of such calls among
// the latest is above most.
func (l *escalations) escalate(now time.Time, most float64) (place uint64, call int64, ok bool) {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	calls, escalated := 0, 0
	for i := range l.calls {
		call := l.calls[i].Load()
		age := now.UnixMilli() - call>>callTime
		if call == 0 || max(age, -age) >= recentTime.Milliseconds() { // the clock may step back
			continue
		}
		calls++
		if call&callEscalated != 0 {
			escalated++
		}
	}
	if float64(escalated) > most*float64(calls) {
		return 0, 0, false
	}
	place, call = l.note(now, callEscalated)
	return place, call, true
}

// withdraw removes a call.
func (l *escalations) withdraw(place uint64, call int64) { l.calls[place].CompareAndSwap(call, 0) }

// escalating is what a call has of a model made of stages that states MaxEscalated.
type escalating struct {
	of     *Model
	latest *escalations
	place  uint64 // in latest, of the call
	call   int64  // what is noted there once the call has escalated, else 0
	group  int    // because of which it was noted
}

// limited returns what the call has of the models with a ceiling; nil where it names
// none, as most calls do.
func (w *world) limited(groups []group) (list []*escalating) {
	var last *Model
	for i := range groups {
		if of := groups[i].of; of != nil && of != last && of.MaxEscalated > 0 {
			list = append(list, &escalating{of: of, latest: w.escalations[of.ID]})
			last = of
		}
	}
	return list
}

// admits reports whether a group may be asked for a second opinion: whether the
// model made of stages that it belongs to has escalated seldom enough. A call counts
// once, whichever of the model's groups it asks.
func (k *course) admits(g int) bool {
	e := k.limitedBy(g)
	if e == nil || e.call != 0 {
		return true
	}
	most := e.of.MaxEscalated
	if k.merged.given < len(k.merged.questions) {
		most = 1 // the stage is not a second opinion only
	}
	var ok bool
	e.place, e.call, ok = e.latest.escalate(k.now, most)
	e.group = g
	return ok
}

// limitedBy returns what limits a group, or nil.
func (k *course) limitedBy(g int) *escalating {
	for _, e := range k.limits {
		if e.of == k.groups[g].of {
			return e
		}
	}
	return nil
}

// withdraw takes back that a group was asked, because nothing was sent. A call that has
// asked an earlier group of the model stays noted.
func (k *course) withdraw(g int) {
	if e := k.limitedBy(g); e != nil && e.call != 0 && e.group == g {
		e.latest.withdraw(e.place, e.call)
		e.call = 0
	}
}

var errEscalated = errors.New("router: the model has escalated too many of its latest calls")

// cap adds a leg that is not asked because its model has escalated too often.
func (k *course) cap(g int, ask []int32, by []string) staged {
	request, _ := k.sheet(ask)
	l := k.call.newLeg()
	l.Reason, l.Group, l.Questions, l.TriggeredBy = LegEscalated, g, request.Questions, by
	l.Capped = k.groups[g].of
	k.router.capped.Add(1)
	return staged{kept: KeptBudget, err: &Error{Class: NoCapacity, Err: errEscalated}, stop: StopCandidates}
}

// stayed notes an answered call at the models of which it asked no later stage.
func (k *course) stayed() {
	for _, e := range k.limits {
		if e.call == 0 && !k.alone {
			e.latest.note(k.now, 0)
		}
	}
}

// Capped returns how many stages since the router was made were not asked because of
// [Model.MaxEscalated]. [Log] warns once an hour of each such model. It is safe for
// concurrent use.
func (r *Router) Capped() int64 { return r.capped.Load() }
