package sqldb

import "time"

// Micros returns t as it is stored: microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant returns, in UTC, the time that was stored as micros. The zero time comes
// back as the zero time.
func Instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
