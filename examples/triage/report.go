package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
)

// report counts what was done and tells it on standard error.
type report struct {
	to    io.Writer
	live  bool // to is a terminal: progress is shown
	now   func() time.Time
	start time.Time
	shown time.Time // when progress was shown last

	items, failures int
	input, output   int64 // tokens
	cost            router.USD
}

// progressEvery is how often progress is shown, so that showing it costs nothing.
const progressEvery = 100 * time.Millisecond

// clear takes the progress line away before something else is written.
func (r *report) clear() {
	if r.live && !r.shown.IsZero() {
		_, _ = io.WriteString(r.to, "\r\x1b[K")
	}
}

// line writes a line, in place of progress.
func (r *report) line(format string, args ...any) {
	r.clear()
	_, _ = fmt.Fprintf(r.to, "triage: "+format+"\n", args...)
}

// count adds an outcome.
func (r *report) count(o outcome) {
	r.items++
	if o.err != nil {
		r.failures++
		return
	}
	usage := o.result.Response.Usage
	r.input += usage.InputTokens
	r.output += usage.OutputTokens
	r.cost += min(o.result.Cost, math.MaxInt64-r.cost) // neither is negative: the largest amount stands for more
}

// progress shows how far the work is, on a terminal, now and then.
func (r *report) progress() {
	if !r.live {
		return
	}
	now := r.now()
	if now.Sub(r.shown) < progressEvery {
		return
	}
	r.shown = now
	_, _ = fmt.Fprintf(r.to, "\r\x1b[K%s, %d failed, %s items/s", plural(r.items, "item"), r.failures, r.rate())
}

// summary is the last line.
func (r *report) summary(interrupted bool) {
	var first string
	if interrupted {
		first = "interrupted: "
	}
	r.line("%s%s, %d failed, %d tokens (%d in, %d out), cost $%s, %s items/s",
		first, plural(r.items, "item"), r.failures, r.input+r.output, r.input, r.output, r.cost, r.rate())
}

// rate is how many items were done per second.
func (r *report) rate() string {
	seconds := r.now().Sub(r.start).Seconds()
	if seconds <= 0 {
		return "0.0"
	}
	return fmt.Sprintf("%.1f", float64(r.items)/seconds)
}

func plural(n int, noun string) string {
	text := fmt.Sprintf("%d %s", n, noun)
	if n != 1 {
		text += "s"
	}
	return text
}

// oneLine is several lines as one.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
