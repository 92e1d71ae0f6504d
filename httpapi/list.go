package httpapi

import (
	"compress/gzip"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
)

const (
	// maxReply bounds the reply of a list, in bytes. A page of 100 of the largest
	// rows that a list can have, guardrails excepted, is below it.
	maxReply = 8 << 20
	// wholeReply is the largest page that is put together before it is sent. A
	// larger one is read and sent part by part, so a caller who does not read
	// holds one part.
	wholeReply = 256 << 10
	// writeBytes and writeTime are the least speed of a reader: so many bytes in
	// so much time, or the connection ends.
	writeBytes = 64 << 10
	writeTime  = 10 * time.Second
	// maxReads is how often a page is begun again because its list has changed
	// between two parts.
	maxReads = 3

	wholePage = 100 // rows of a list whose rows are small
)

// rows reads the rows of a page, and how many there are in the whole list.
type rows[T any] func(ctx context.Context, at page) ([]T, int, error)

// replyList makes a page of a list the reply. It reads at most part rows at a
// time, however many the page has. A page of more than maxReply bytes is
// refused: the caller may ask for fewer rows.
func replyList[T any](ctx context.Context, x *exchange, p page, part int, read rows[T]) error {
	var size, fit int
	for tries := 1; ; tries++ {
		x.out, size, fit = x.out[:0], 0, 0
		steady, err := eachPart(ctx, p, part, read, func(json []byte, n int) error {
			if size += len(json); size > maxReply {
				return badRequest("limit", "must be at most "+strconv.Itoa(max(fit, 1))+" for these rows, or the reply would have more than "+
					strconv.Itoa(maxReply)+" bytes")
			}
			if fit += n; size <= wholeReply {
				x.out = append(x.out, json...)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if steady || tries == maxReads {
			break
		}
	}
	if size > wholeReply {
		x.out = x.out[:0]
		x.parts = func(ctx context.Context, send func(json []byte, n int) error) error {
			_, err := eachPart(ctx, p, part, read, send)
			return err
		}
	}
	return nil
}

// eachPart gives the reply to use, part by part, with the number of rows in each.
// It reports whether the list had as many rows all the time.
func eachPart[T any](
	ctx context.Context, p page, part int, read rows[T], use func(json []byte, n int) error,
) (steady bool, err error) {
	out, end, first := []byte(`{"data":[`), p.offset+p.limit, -1
	steady = true
	for at := p.offset; ; {
		asked := min(part, end-at)
		list, total, err := read(ctx, page{at, asked})
		if err != nil {
			return false, err
		}
		for i := range list {
			if at++; at > p.offset+1 {
				out = append(out, ',')
			}
			out = appendJSON(out, list[i])
		}
		if first < 0 {
			first = total
		}
		steady = steady && first == total
		last := len(list) < asked || at == end
		if last {
			out = append(strconv.AppendInt(append(out, `],"total_count":`...), int64(total), 10), '}')
		}
		if err := use(out, len(list)); err != nil || last {
			return steady, err
		}
		out = out[:0]
	}
}

// describeAll describes each row.
func describeAll[From, To any](list []From, describe func(From) To) []To {
	all := make([]To, len(list))
	for i := range list {
		all[i] = describe(list[i])
	}
	return all
}

// sendParts writes a reply that is read while it is sent. What breaks it off
// breaks the connection: half a reply must not look like a whole one.
func (x *exchange) sendParts(ctx context.Context, zipped bool) {
	send, end := x.write, func() error { return nil }
	if zipped {
		zip, _ := gzip.NewWriterLevel(writerFunc(x.write), gzip.BestSpeed) // a level that exists
		send = func(b []byte) error {
			_, err := zip.Write(b)
			return err
		}
		end = zip.Close
	}
	err := x.parts(ctx, func(json []byte, _ int) error { return send(json) })
	if err == nil {
		err = end()
	}
	if err == nil {
		return
	}
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Unix(1, 0)) // long past
	if ctx.Err() == nil {
		x.s.Logger.LogAttrs(ctx, slog.LevelWarn, "reply broken off",
			slog.String("request_id", x.requestID), slog.String("route", x.r.Pattern), slog.Any("error", err))
	}
}

// writerFunc is an [io.Writer] that takes all or fails.
type writerFunc func(b []byte) error

// Write implements [io.Writer].
func (f writerFunc) Write(b []byte) (int, error) {
	if err := f(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// write sends a part of the reply to a caller who reads fast enough.
func (x *exchange) write(b []byte) error {
	if len(b) <= writeBytes && x.parts == nil { // the server's own time is enough for what its buffers take
		_, err := x.w.Write(b)
		return err
	}
	for piece := range slices.Chunk(b, writeBytes) {
		if err := x.writePiece(piece); err != nil {
			return err
		}
	}
	return nil
}

func (x *exchange) writePiece(b []byte) error {
	connection, ended := http.NewResponseController(x.w), make(chan struct{})
	timer := time.AfterFunc(writeTime, func() {
		defer close(ended)
		// The connection may be a ResponseWriter of the embedding program.
		_ = panics.Catch(func() error { return connection.SetWriteDeadline(time.Unix(1, 0)) }) // long past
	})
	_, err := x.w.Write(b)
	if !timer.Stop() {
		<-ended // nobody touches the connection when the handler has returned
	}
	return err
}
