package router

import (
	"sync/atomic"
	"time"
)

// windows are the periods that contain the instants of one day.
type windows struct {
	day   int64 // since 1970, UTC
	names [intervals]string
}

// latestWindows caches the windows of the last day asked for, because almost all
// calls are of one day.
type latestWindows struct{ last atomic.Pointer[windows] }

func (l *latestWindows) of(t time.Time) *windows {
	const secondsPerDay = 24 * 60 * 60
	day := t.Unix() / secondsPerDay
	if t.Unix()%secondsPerDay < 0 {
		day--
	}
	if w := l.last.Load(); w != nil && w.day == day {
		return w
	}
	w := &windows{day: day}
	for i := range w.names {
		w.names[i] = Interval(i).Window(t)
	}
	l.last.Store(w)
	return w
}

// admissions returns instants that never step back, so that no call counts in a
// window that an earlier call has left.
type admissions struct{ latest atomic.Int64 } // Unix nanoseconds

func (a *admissions) admit(now time.Time) time.Time {
	at := now.UnixNano()
	for {
		latest := a.latest.Load()
		if at < latest {
			return time.Unix(0, latest).UTC()
		}
		if at == latest || a.latest.CompareAndSwap(latest, at) {
			return now
		}
	}
}
