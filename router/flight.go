package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/panics"
)

// flights are the calls of providers under way that other callers may join. The
// zero value is ready. It is safe for concurrent use.
type flights struct {
	mu   sync.Mutex
	open map[digest]*flight // by the digest of the sheet; those that may still be joined
}

// flight is one call of a provider for all callers that ask the same sheet at the
// same time. It runs in a goroutine of its own. The last of its callers waits for
// that goroutine, so none is left when no caller is.
type flight struct {
	from   *flights
	key    digest
	cancel context.CancelFunc
	done   chan struct{} // closed when the call has ended

	// The rest is guarded by from.mu. It does not change any more once done is
	// closed.
	seats   []*seat // of the callers that share what the call uses, in the order of joining
	staying int     // how many of them want the answer
	paid    used    // what callers that left before were charged
	last    *seat   // whose leaving ended the call, or nil
	ended   ending
	landed  bool
}

// ending is how a provider's call ended.
type ending struct {
	reply    Reply
	err      error
	late     bool          // the call's own time was over
	duration time.Duration // by the clock of the caller that began it
	bug      error         // the provider panicked or ended its goroutine; else nil
}

// seat is one caller's place in a flight.
type seat struct{ flight *flight }

var errGoexit = errors.New("router: the provider ended its goroutine")

// board returns a seat in the flight of a key. If there is none, board begins one
// with the call that depart returns, which gets ctx's values and the given time. A
// nil call begins nothing, and board returns nil.
//
// The caller must call [seat.wait] once.
func (fs *flights) board(ctx context.Context, key digest, given time.Duration, depart func() func(context.Context) ending) *seat {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f := fs.open[key]
	if f == nil {
		call := depart()
		if call == nil {
			return nil
		}
		f = &flight{from: fs, key: key, done: make(chan struct{})}
		ctx, f.cancel = context.WithTimeout(context.WithoutCancel(ctx), given)
		if fs.open == nil {
			fs.open = map[digest]*flight{}
		}
		fs.open[key] = f
		go f.fly(ctx, call)
	}
	s := &seat{flight: f}
	f.seats = append(f.seats, s)
	f.staying++
	return s
}

// has reports whether a flight of this key can be joined.
func (fs *flights) has(key digest) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.open[key] != nil
}

// fly makes the call and lands, also after a panic and after a [runtime.Goexit].
func (f *flight) fly(ctx context.Context, call func(context.Context) ending) {
	end := ending{bug: errGoexit}
	defer func() {
		if end.bug != nil {
			end.err = end.bug
		}
		end.late = end.err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded)
		f.cancel()
		f.land(end)
	}()
	end.bug = panics.Catch(func() error {
		made := call(ctx)
		end.reply, end.err, end.duration = made.reply, made.err, made.duration
		return nil
	})
}

func (f *flight) land(end ending) {
	f.from.mu.Lock()
	defer f.from.mu.Unlock()
	f.close()
	f.ended, f.landed = end, true
	close(f.done)
}

// close keeps further callers out. The caller holds from.mu.
func (f *flight) close() {
	if f.from.open[f.key] == f {
		delete(f.from.open, f.key)
	}
}

// landing is how a flight ended for one of its callers.
type landing struct {
	ending

	// left says that the caller's own end came first: it left before the others, or
	// the call was cancelled because all had left.
	left bool
	// speaks is true for exactly one caller of a call: the one that counts it in the
	// statistics, and that reports a bug of the provider.
	speaks  bool
	portion portion
}

// leave says what happens to a caller whose context ends before the call does.
type leave struct {
	// awaits lets the caller wait until the call has ended for the others, to be
	// charged its share then.
	awaits bool
	// estimate is charged in shares to callers that leave before the call has ended.
	// The zero value charges nothing.
	estimate used
}

// wait returns how the flight ended for the caller. When ctx ends first, it calls
// leaves once. A caller whose leaving leaves none behind cancels the call and waits
// for its end.
func (s *seat) wait(ctx context.Context, leaves func() leave) landing {
	select {
	case <-s.flight.done:
	case <-ctx.Done():
		if l, left := s.leave(ctx, leaves()); left {
			return l
		}
		<-s.flight.done
	}
	f := s.flight
	return landing{
		ending: f.ended, left: f.last != nil,
		speaks:  s == f.last || f.last == nil && s == f.seats[0],
		portion: portion{place: slices.Index(f.seats, s), of: len(f.seats), paid: f.paid},
	}
}

// leave takes the caller out of the flight, and returns true if it need not wait
// for the end of the call.
func (s *seat) leave(ctx context.Context, how leave) (landing, bool) {
	f := s.flight
	f.from.mu.Lock()
	defer f.from.mu.Unlock()
	if f.landed {
		return landing{}, false
	}
	f.staying--
	if f.staying == 0 {
		f.last = s
		f.close()
		f.cancel()
		return landing{}, false
	}
	if how.awaits {
		return landing{}, false
	}
	own := portion{place: 1, of: len(f.seats), paid: f.paid}.part(how.estimate, how.estimate.cost)
	f.paid = f.paid.plus(own)
	f.seats = slices.DeleteFunc(f.seats, func(other *seat) bool { return other == s })
	err := &UpstreamError{Class: Timeout, Err: fmt.Errorf("router: the caller left a shared call: %w", ctx.Err())}
	return landing{ending: ending{err: err}, left: true, portion: portion{of: len(f.seats) + 1, fixed: &own}}, true
}
