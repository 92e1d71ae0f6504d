package upstream_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/internal/upstream"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ms, text string
		want     time.Duration
	}{
		{"", "", 0},
		{"", "7", 7 * time.Second},
		{"", " 7 ", 7 * time.Second},
		{"", "7.5", 7500 * time.Millisecond},
		{"", ".5", 500 * time.Millisecond},
		{"", "007", 7 * time.Second},
		{"", "3600", time.Hour},
		{"", "3600.1", time.Hour},
		{"", "999999999999999999999", time.Hour},
		{"", "1e3", 0},
		{"", "0x10", 0},
		{"", "Inf", 0},
		{"", "NaN", 0},
		{"", "-1", 0},
		{"", "+1", 0},
		{"", "1.2.3", 0},
		{"", ".", 0},
		{"", "7 seconds", 0},
		{"250", "7", 250 * time.Millisecond},
		{"0", "7", 0},
		{"0.5", "", 500 * time.Microsecond},
		{"-1", "7", 7 * time.Second},
		{"x", "7", 7 * time.Second},
		{"9223372036854775808", "", time.Hour},
		{"", "Sat, 21 Nov 2026 12:00:30 GMT", 30 * time.Second},
		{"", "Saturday, 21-Nov-26 12:00:30 GMT", 30 * time.Second},
		{"", "Sat Nov 21 12:00:30 2026", 30 * time.Second},
		{"", "Sat, 21 Nov 2026 11:59:59 GMT", 0},
		{"", "Sat, 21 Nov 2026 14:00:00 GMT", time.Hour},
		{"", "Mon, 01 Jan 0001 00:00:00 GMT", 0},
		{"", "Fri, 31 Dec 9999 23:59:59 GMT", time.Hour},
	} {
		h := http.Header{}
		if c.ms != "" {
			h.Set("retry-after-ms", c.ms)
		}
		if c.text != "" {
			h.Set("Retry-After", c.text)
		}
		assert.Equal(t, c.want, upstream.RetryAfter(h, now), "%q %q", c.ms, c.text)
	}
}

func TestRetryInfo(t *testing.T) {
	const kind = `"@type":"type.googleapis.com/google.rpc.RetryInfo"`
	of := func(details string) string { return `{"error":{"code":429,"details":` + details + `}}` }
	delay := func(text string) string { return of(`[{` + kind + `,"retryDelay":` + text + `}]`) }
	for body, want := range map[string]time.Duration{
		"":                    0,
		"null":                0,
		"{":                   0,
		`{"error":"busy"}`:    0,
		of(`{}`):              0,
		of(`[]`):              0,
		of(`[1,null,"x",[]]`): 0,
		delay(`"3.5s"`):       3500 * time.Millisecond,
		delay(`"34.25s"`):     34250 * time.Millisecond,
		delay(`"0s"`):         0,
		delay(`"3600s"`):      time.Hour,
		delay(`"3601s"`):      time.Hour,
		delay(`"1` + strings.Repeat("0", 40) + `s"`): time.Hour,
		delay(`"-1s"`):  0,
		delay(`"3.5"`):  0,
		delay(`"3.5m"`): 0,
		delay(`"s"`):    0,
		delay(`"infs"`): 0,
		delay(`"1e3s"`): 0,
		delay(`3`):      0,
		delay(`null`):   0,
		delay(`{}`):     0,
		of(`[{"@type":"type.googleapis.com/google.rpc.Help","retryDelay":"9s"},{"retryDelay":"2s",` + kind + `}]`): 2 * time.Second,
		of(`[{` + kind + `},{` + kind + `,"retryDelay":"4s"}]`):                                                    4 * time.Second,
		of(`[{` + kind + `,"retryDelay":"5s"},{` + kind + `,"retryDelay":"4s"}]`):                                  5 * time.Second,
		`{"details":[{` + kind + `,"retryDelay":"5s"}]}`:                                                           0,
	} {
		assert.Equal(t, want, upstream.RetryInfo([]byte(body)), body)
	}
}

func FuzzRetryInfo(f *testing.F) {
	f.Add([]byte(`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"}]}}`))
	f.Add([]byte(`{"error":{"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"9223372036855s"}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if d := upstream.RetryInfo(body); d < 0 || d > time.Hour {
			t.Fatalf("%v is not between nothing and an hour", d)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range [][2]string{{"", "7"}, {"250", ""}, {"1e400", "Sat, 21 Nov 2026 12:00:30 GMT"}, {"-0", "\xff"}} {
		f.Add(seed[0], seed[1], int64(1_700_000_000))
	}
	f.Fuzz(func(t *testing.T, ms, text string, now int64) {
		h := http.Header{"Retry-After-Ms": {ms}, "Retry-After": {text}}
		d := upstream.RetryAfter(h, time.Unix(now, 0))
		if d < 0 || d > time.Hour {
			t.Fatalf("%v is not between nothing and an hour", d)
		}
	})
}
