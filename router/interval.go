package router

import (
	"fmt"
	"time"
)

// Interval says how often a limit starts anew: daily at midnight UTC, weekly on
// Mondays, monthly on the first, or never. The zero value is Lifetime.
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

// ParseInterval reads daily, weekly, monthly or lifetime, and reports whether word
// is one of these.
func ParseInterval(word string) (Interval, bool) {
	for i := range Interval(intervals) {
		if i.String() == word {
			return i, true
		}
	}
	return 0, false
}

// Window names the period that contains t: "ever", "2026-11", "2026-W47" or
// "2026-11-21". Periods are in UTC, and weeks are those of ISO 8601, Monday to
// Sunday. Because a new period has a new name, no job ever resets anything.
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
