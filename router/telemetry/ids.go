package telemetry

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"

	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox/signalbox/router"
)

// IDs generates random ids for an SDK (WithIDGenerator), and for spans of this package
// the ids that it chose. An attempt's id goes upstream before its span is made, so it
// must be known by then. The zero value is ready for use. It is safe for concurrent use.
type IDs struct{}

// chosenKey is the key of a context's chosen ids, a [trace.SpanContext].
type chosenKey struct{}

// choose makes [IDs] return the ids of sc for a span that is started with ctx. Such a
// context must start nothing else.
func choose(ctx context.Context, sc trace.SpanContext) context.Context {
	return context.WithValue(ctx, chosenKey{}, sc)
}

// NewIDs returns the ids of a span without a parent.
func (IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if sc, ok := ctx.Value(chosenKey{}).(trace.SpanContext); ok {
		return sc.TraceID(), sc.SpanID()
	}
	var id trace.TraceID
	fill(rand.Read, id[:])
	return id, newSpanID()
}

// NewSpanID returns the id of a span in a trace.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if sc, ok := ctx.Value(chosenKey{}).(trace.SpanContext); ok {
		return sc.SpanID()
	}
	return newSpanID()
}

func newSpanID() (id trace.SpanID) {
	fill(rand.Read, id[:])
	return id
}

// fill makes id random, and not zero.
func fill(read func([]byte) (int, error), id []byte) {
	_, _ = read(id)
	id[len(id)-1] |= 1
}

// numbered returns the n-th id of a call whose root span has the id root.
func numbered(root trace.SpanID, n uint64) (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], max(binary.BigEndian.Uint64(root[:])+n, 1))
	return id
}

// The length of a traceparent, and the place of its span id.
const (
	headerLength = 55
	headerSpan   = 36
)

// header returns the headers that name sc as the parent.
func header(sc trace.SpanContext) router.TraceContext {
	traceID, spanID := sc.TraceID(), sc.SpanID()
	var buf [headerLength]byte
	b := hex.AppendEncode(append(buf[:0], "00-"...), traceID[:])
	b = hex.AppendEncode(append(b, '-'), spanID[:])
	b = hex.AppendEncode(append(b, '-'), []byte{byte(sc.TraceFlags() & (trace.FlagsSampled | trace.FlagsRandom))})
	return router.TraceContext{Parent: string(b), State: sc.TraceState().String()}
}
