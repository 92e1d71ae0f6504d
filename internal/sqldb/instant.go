package sqldb

import "time"

// Micros is an instant as it is stored: microseconds since 1970.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// Instant is what micros stored, in UTC. The zero time comes back as such.
func Instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
