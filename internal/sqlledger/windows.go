package sqlledger

import (
	"time"

	"github.com/signalbox/signalbox/router"
)

// linesOf yields the lines on which a day's spending of a principal is counted.
func linesOf(of router.Principal, day string) func(yield func(router.Line) bool) {
	return func(yield func(router.Line) bool) {
		date, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return // not a day that this package wrote
		}
		for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
			for _, window := range windowsOf(day, date) {
				if line := owner.Line(of, window); line != (router.Line{}) && !yield(line) {
					return
				}
			}
		}
	}
}

// isOver returns a function that reports whether a window, given by its name, ended
// before day. Names of one kind of window sort by time.
func isOver(day string) func(window string) bool {
	var names [router.Daily + 1]string
	if date, err := time.Parse(time.DateOnly, day); err == nil {
		names = windowsOf(day, date)
	}
	return func(window string) bool {
		switch len(window) {
		case len("2026-11"):
			return window < names[router.Monthly]
		case len("2026-W47"):
			return window < names[router.Weekly]
		case len("2026-11-21"):
			return window < names[router.Daily]
		}
		return false
	}
}

// windowsOf names the windows that contain a day. If day is no date, it uses the
// instant of.
func windowsOf(day string, of time.Time) (names [router.Daily + 1]string) {
	if date, err := time.Parse(time.DateOnly, day); err == nil {
		of = date
	}
	for i := range names {
		names[i] = router.Interval(i).Window(of)
	}
	return names
}
