package export

import (
	"context"
	"io"
	"sync"

	"github.com/signalbox/signalbox/router/telemetry"
)

// File is a [Destination] that appends JSON Lines: each line is a batch of spans in OTLP.
// It is safe for concurrent use.
type File struct {
	encoder encoder

	mu   sync.Mutex
	w    io.Writer
	line []byte
	torn bool // the last write was cut short
}

// keepLine is the capacity of the largest buffer that is kept for the next line.
const keepLine = 1 << 20

// NewFile returns a destination that writes to w, such as an [os.File] opened with
// O_APPEND. The caller closes w, after the queue's Run has returned. service is the
// value of service.name; "" is signalbox.
func NewFile(w io.Writer, service string) *File { return &File{encoder: newEncoder(service), w: w} }

// Export writes one line. After a write that failed half-way, as on a full disk, the
// next line begins on a line of its own; readers skip the broken one.
func (f *File) Export(_ context.Context, spans []telemetry.Span) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cap(f.line) > keepLine {
		f.line = nil
	}
	f.line = append(f.encoder.append(f.line[:0], spans), '\n')
	if f.torn {
		if _, err := f.w.Write([]byte{'\n'}); err != nil {
			return &Error{Err: err}
		}
		f.torn = false
	}
	n, err := f.w.Write(f.line)
	if err != nil {
		f.torn = n > 0
		return &Error{Err: err}
	}
	return nil
}
