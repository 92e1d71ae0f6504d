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
	// maxReply is the size of the largest reply of a list, in bytes. A page of the 100
	// largest possible rows of any list but guardrails is smaller.
	maxReply = 8 << 20
	// wholeReply is the size of the largest page that is built in memory before it is
	// sent, in bytes. A larger page is read and sent part by part, so that a slow
	// caller holds only one part in memory.
	wholeReply = 256 << 10
	// writeBytes and writeTime set the lowest speed at which a caller must read:
	// writeBytes in each writeTime. A slower connection is closed.
	writeBytes = 64 << 10
	writeTime  = 10 * time.Second
	// maxReads is how often a page is read if its list changes between two parts.
	maxReads = 3

	wholePage = 100 // the part of a list with small rows, in rows
)

// rows returns the rows of a page and the total number of rows in the list.
type rows[T any] func(ctx context.Context, at page) ([]T, int, error)

// replyList replies with a page of a list. Each read asks for at most part rows,
// whatever the size of the page. A page of more than maxReply bytes is refused, because
// the caller can ask for fewer rows.
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

// eachPart calls use with each part of the reply and its number of rows. steady reports
// that every read returned the same total.
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

// sendParts sends a reply while its rows are read. An error closes the connection,
// because a truncated reply must not look complete.
func (x *exchange) sendParts(ctx context.Context, zipped bool) {
	send, end := x.write, func() error { return nil }
	if zipped {
		zip, _ := gzip.NewWriterLevel(writerFunc(x.write), gzip.BestSpeed) // the level is valid, so there is no error
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
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Unix(1, 0)) // a past deadline fails all writes
	if ctx.Err() == nil {
		x.s.Logger.LogAttrs(ctx, slog.LevelWarn, "reply broken off",
			slog.String("request_id", x.requestID), slog.String("route", x.r.Pattern), slog.Any("error", err))
	}
}

// writerFunc is an [io.Writer] that writes all of b or returns an error.
type writerFunc func(b []byte) error

// Write implements [io.Writer].
func (f writerFunc) Write(b []byte) (int, error) {
	if err := f(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// write sends a part of the reply. It fails if the caller reads too slowly.
func (x *exchange) write(b []byte) error {
	if len(b) <= writeBytes && x.parts == nil { // it fits into the server's buffers; the WriteTimeout of the server applies
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
		// The ResponseWriter may be the embedding program's, and its panic would end
		// the process.
		_ = panics.Catch(func() error { return connection.SetWriteDeadline(time.Unix(1, 0)) }) // a past deadline fails all writes
	})
	_, err := x.w.Write(b)
	if !timer.Stop() {
		<-ended // the connection must not be used after the handler has returned
	}
	return err
}
