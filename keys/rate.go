package keys

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signalbox/signalbox/router"
)

// ErrRateLimited matches every [*RateLimitError] with errors.Is.
var ErrRateLimited = errors.New("keys: rate limit exceeded")

// Rate bounds requests. The zero value bounds nothing.
type Rate struct {
	// Requests may be made in any stretch of Per; all at once, if need be, and
	// then one more whenever Per/Requests has passed. 0 is no bound.
	Requests int
	Per      time.Duration
	// Concurrent requests may be under way at a time; 0 is no bound.
	Concurrent int
}

// RateLimits bound the requests of every key, of all keys of a workspace, and
// of all keys of an account. Each process counts for itself.
type RateLimits struct {
	Key, Workspace, Account Rate
}

func (l RateLimits) check() error {
	for _, r := range []Rate{l.Key, l.Workspace, l.Account} {
		if r.Requests < 0 || r.Per < 0 || r.Concurrent < 0 || (r.Requests > 0) != (r.Per > 0) {
			return fmt.Errorf("%w: Rates need Requests and Per, or neither, and nothing negative", ErrConfig)
		}
	}
	return nil
}

// RateLimitError refuses a request that comes too soon, or while too many others are
// under way.
type RateLimitError struct {
	Limit      int // requests per interval, or at a time
	Remaining  int // of them, at this instant: 0
	Reset      time.Time
	RetryAfter time.Duration // until Reset, when a request may fit again
}

// Error says when to come back.
func (e *RateLimitError) Error() string {
	return fmt.Sprintf("%v: %d requests, come back in %s", ErrRateLimited, e.Limit, e.RetryAfter)
}

// Unwrap returns ErrRateLimited.
func (e *RateLimitError) Unwrap() error { return ErrRateLimited }

// retryBusy is the RetryAfter when too many requests are under way. When one of them
// will end is unknown.
const retryBusy = time.Second

// Admit counts an authenticated request and returns a [*RateLimitError] if it may
// not go on. The caller must call release when an admitted request is over; further
// calls of it do nothing. release is never nil.
//
// The rate is that of the generic cell rate algorithm, computed exactly. Every
// request counts for its key, its workspace and its account, also a refused one, so
// a caller that does not wait is refused for longer. The count never exceeds the
// requests of one interval. So after a pause of RetryAfter a request fits, unless
// others have come in between. If several bounds refuse a request, the error is that
// of the longest wait. Only admitted requests count as concurrent.
func (s *Service) Admit(p router.Principal) (release func(), err error) {
	if !s.rates.on {
		return func() {}, nil
	}
	return s.rates.admit(p, s.cfg.Now())
}

// KeyRate returns the rate of one key, for display.
func (s *Service) KeyRate() Rate { return s.cfg.Rates.Key }

// The owners that rates are counted on.
const scopes = 3

// counted names an owner whose requests are counted together.
type counted struct {
	kind int // index into limiter.limits
	id   string
}

// bucket is the state of one scope.
type bucket struct {
	// next is the theoretical arrival time of the algorithm: when the next request
	// would come if all came evenly. It is in nanoseconds since the epoch, with a
	// remainder in parts of 1/Requests, so that nothing is rounded.
	next, rest int64
	busy       int // requests under way
}

// limiter counts requests. It keeps the buckets of owners that have asked within the
// last interval or have requests under way, and forgets the others.
type limiter struct {
	limits [scopes]Rate
	on     bool

	mu      sync.Mutex
	buckets map[counted]*bucket
	sweepAt int // number of buckets
}

const firstSweep = 1024

func newLimiter(l RateLimits) *limiter {
	return &limiter{
		limits: [scopes]Rate{l.Key, l.Workspace, l.Account}, on: l != RateLimits{},
		buckets: map[counted]*bucket{}, sweepAt: firstSweep,
	}
}

func (l *limiter) admit(p router.Principal, at time.Time) (func(), error) {
	now := at.UnixNano()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	var found [scopes]*bucket
	tooMany := false
	for kind, id := range [scopes]string{p.KeyHash, p.Workspace, p.Account} {
		if id == "" || l.limits[kind] == (Rate{}) {
			continue
		}
		found[kind] = l.bucket(counted{kind, id})
		found[kind].rewind(l.limits[kind], now)
		tooMany = tooMany || found[kind].refuse(l.limits[kind], now) != nil
	}
	var refusal *RateLimitError // that is told: what refuses the next request longest
	for kind, b := range found {
		if b == nil {
			continue
		}
		b.count(l.limits[kind], now)
		if !tooMany {
			b.busy++
			continue
		}
		if e := b.refuse(l.limits[kind], now); e != nil && (refusal == nil || e.RetryAfter > refusal.RetryAfter) {
			refusal = e
		}
	}
	if refusal != nil {
		refusal.Reset = at.Add(refusal.RetryAfter)
		return func() {}, refusal
	}
	var once sync.Once
	return func() { once.Do(func() { l.release(found) }) }, nil
}

func (l *limiter) release(found [scopes]*bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range found {
		if b != nil {
			b.busy--
		}
	}
}

// bucket returns the bucket of an owner.
func (l *limiter) bucket(of counted) *bucket {
	b := l.buckets[of]
	if b == nil {
		b = &bucket{}
		l.buckets[of] = b
	}
	return b
}

// sweep removes the buckets without effect whenever the number of buckets has
// doubled, which costs each request a constant on average.
func (l *limiter) sweep(now int64) {
	if len(l.buckets) < l.sweepAt {
		return
	}
	for s, b := range l.buckets {
		if b.busy == 0 && b.next < now {
			delete(l.buckets, s)
		}
	}
	l.sweepAt = max(firstSweep, 2*len(l.buckets))
}

// step is the time between two requests that come evenly: whole nanoseconds and
// parts of 1/Requests.
func (r Rate) step() (whole, rest int64) {
	return int64(r.Per) / int64(r.Requests), int64(r.Per) % int64(r.Requests)
}

// rewind adjusts the bucket after the clock was set back, so that requests are
// delayed for no longer than the interval.
func (b *bucket) rewind(r Rate, now int64) {
	if latest := now + int64(r.Per); b.next > latest {
		b.next, b.rest = latest, 0
	}
}

// after returns the arrival time that the bucket would have after one more request
// at now.
func (b *bucket) after(r Rate, now int64) (next, rest int64) {
	if next, rest = b.next, b.rest; next < now {
		next, rest = now, 0
	}
	whole, part := r.step()
	next, rest = next+whole, rest+part
	if rest >= int64(r.Requests) {
		next, rest = next+1, rest-int64(r.Requests)
	}
	return next, rest
}

// refuse returns the error of one more request at now, or nil if it fits.
func (b *bucket) refuse(r Rate, now int64) *RateLimitError {
	var e *RateLimitError
	if r.Concurrent > 0 && b.busy >= r.Concurrent {
		e = &RateLimitError{Limit: r.Concurrent, RetryAfter: retryBusy}
	}
	if r.Requests == 0 {
		return e
	}
	next, rest := b.after(r, now)
	if rest > 0 {
		next++ // round up to a whole nanosecond
	}
	if wait := time.Duration(next - now - int64(r.Per)); wait > 0 && (e == nil || wait > e.RetryAfter) {
		e = &RateLimitError{Limit: r.Requests, RetryAfter: wait}
	}
	return e
}

// count counts a request. One that does not fit fills the bucket and no more.
func (b *bucket) count(r Rate, now int64) {
	if r.Requests == 0 {
		return
	}
	b.next, b.rest = b.after(r, now)
	if full := now + int64(r.Per); b.next >= full {
		b.next, b.rest = full, 0
	}
}
