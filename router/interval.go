package router

import (
	"fmt"
	"time"
)

// Interval is how often a limit begins anew: at midnight UTC, on Mondays, on
// the first of a month, or never. The zero value is Lifetime.
type Interval uint8

// Every interval, broadest first.
const (
	Lifetime Interval = iota
	Monthly
	Weekly
	Daily

	intervals = iota
)

// String returns lifetime, monthly, weekly or daily.
func (i Interval) String() string {
	words := [...]string{"lifetime", "monthly", "weekly", "daily"}
	return words[min(int(i), len(words)-1)]
}

// ParseInterval reads daily, weekly, monthly or lifetime.
func ParseInterval(word string) (Interval, bool) {
	for i := range Interval(intervals) {
		if i.String() == word {
			return i, true
		}
	}
	return 0, false
}

// Window names the period that holds t: "ever", "2026-11", "2026-W47" or
// "2026-11-21", in UTC; weeks are those of ISO 8601, Monday to Sunday. It is a
// pure function of the instant, so no job ever resets anything.
func (i Interval) Window(t time.Time) string {
	t = t.UTC()
	switch i {
	case Monthly:
		return t.Format("2006-01")
	case Weekly:
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case Daily:
		return t.Format(time.DateOnly)
	case Lifetime:
	}
	return "ever"
}
