package upstream

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// maxRetryAfter is the longest hint that is accepted.
const maxRetryAfter = time.Hour

// RetryAfter returns for how long an upstream asks not to be called, at most an
// hour, and 0 without a valid hint. It reads retry-after-ms before Retry-After.
// That is seconds or an HTTP date (RFC 9110, 10.2.3), which is compared with now.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := units(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := h.Get("Retry-After")
	if d, ok := units(text, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(strings.TrimSpace(text)); err == nil {
		return max(0, min(at.Sub(now), maxRetryAfter))
	}
	return 0
}

// RetryInfo returns for how long a google.rpc.RetryInfo among the details of an error
// body asks not to be called, at most an hour, and 0 without a valid one. Data may be
// any text.
func RetryInfo(data []byte) time.Duration {
	if systemone.CheckSyntax(data) != nil {
		return 0
	}
	for detail := range Elements(Member(Member(data, "error"), "details")) {
		if String(Member(detail, "@type")) != "type.googleapis.com/google.rpc.RetryInfo" {
			continue
		}
		if text, ok := strings.CutSuffix(String(Member(detail, "retryDelay")), "s"); ok {
			delay, _ := units(text, time.Second)
			return delay
		}
	}
	return 0
}

// units reads a number of units, which may have decimals.
func units(text string, unit time.Duration) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > 64 || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	// Compared as floats: the product may not fit a Duration.
	if n*float64(unit) >= float64(maxRetryAfter) {
		return maxRetryAfter, true
	}
	return time.Duration(n * float64(unit)), true
}
