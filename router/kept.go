package router

import (
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// KeepReason says why a second opinion was not to be had.
type KeepReason string

// Every reason.
const (
	KeptBudget     KeepReason = "budget"      // a limit on spending or on escalation left no room
	KeptDeadline   KeepReason = "deadline"    // too little time was left
	KeptError      KeepReason = "error"       // every attempt failed
	KeptNoEndpoint KeepReason = "no_endpoint" // no endpoint may be asked
	KeptRefused    KeepReason = "refused"     // the upstream declined to answer
)

// keepReasons returns every reason, in the order of keptCounts.
func keepReasons() []KeepReason {
	return []KeepReason{KeptBudget, KeptDeadline, KeptError, KeptNoEndpoint, KeptRefused}
}

// keptCounts counts stages by the reason for which earlier answers stood. It is safe
// for concurrent use.
type keptCounts [5]atomic.Int64

// note counts the stages of an answered call that kept earlier answers.
func (k *keptCounts) note(legs []*Leg) {
	for _, l := range legs {
		if i := slices.Index(keepReasons(), l.Kept); i >= 0 {
			k[i].Add(1)
		}
	}
}

// Kept returns how many stages of answered calls, since the router was made, were to
// replace earlier answers and left some as they were, for that reason. It is 0 for an
// unknown reason. It is safe for concurrent use.
func (r *Router) Kept(why KeepReason) int64 {
	if i := slices.Index(keepReasons(), why); i >= 0 {
		return r.kept[i].Load()
	}
	return 0
}

// kept formats the stages that kept earlier answers as "budget 1, error 2".
func (r *Report) kept() string {
	var parts []string
	for _, why := range keepReasons() {
		n := 0
		for _, l := range r.Legs {
			if l.Kept == why {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, string(why)+" "+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, ", ")
}
