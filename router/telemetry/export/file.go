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
	torn bool // the last write was cut short
}

// NewFile returns a destination that writes to w, such as an [os.File] opened with
// O_APPEND. The caller closes w, after the queue's Run has returned. service is the
// value of service.name; "" is signalbox.
func NewFile(w io.Writer, service string) *File { return &File{encoder: newEncoder(service), w: w} }

// Export writes one line. After a write that failed half-way, as on a full disk, the
// next line begins on a line of its own; readers skip the broken one.
func (f *File) Export(_ context.Context, spans []telemetry.Span) error {
	line, err := f.encoder.encode(spans)
	if err != nil {
		return &Error{Final: true, Err: err}
	}
	line = append(line, '\n')
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.torn {
		if _, err := f.w.Write([]byte{'\n'}); err != nil {
			return &Error{Err: err}
		}
		f.torn = false
	}
	n, err := f.w.Write(line)
	if err != nil {
		f.torn = n > 0
		return &Error{Err: err}
	}
	return nil
}
