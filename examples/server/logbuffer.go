package main

import (
	"io"
	"sync"
	"time"
)

// How long a line of the log may wait, and how many bytes may.
const (
	logDelay = 100 * time.Millisecond
	logBytes = 64 << 10
)

// logBuffer gathers the lines of a log, so that a request does not pay for a
// system call each. A crash loses the lines of the last tenth of a second. It
// is safe for concurrent use; Close writes what is left.
type logBuffer struct {
	out  io.Writer
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	lines []byte
	err   error // of the last write
}

func newLogBuffer(out io.Writer) *logBuffer {
	b := &logBuffer{out: out, stop: make(chan struct{})}
	b.done.Go(b.run)
	return b
}

// Write takes a line. It reports the failure of an earlier one.
func (b *logBuffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line...)
	if len(b.lines) >= logBytes {
		b.flush()
	}
	return len(line), b.err
}

// Close writes what is left and ends the buffer's goroutine.
func (b *logBuffer) Close() error {
	close(b.stop)
	b.done.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
	return b.err
}

func (b *logBuffer) run() {
	tick := time.NewTicker(logDelay)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-tick.C:
			b.mu.Lock()
			b.flush()
			b.mu.Unlock()
		}
	}
}

// flush writes the lines; the caller holds mu.
func (b *logBuffer) flush() {
	if len(b.lines) == 0 {
		return
	}
	_, b.err = b.out.Write(b.lines)
	b.lines = b.lines[:0]
}
