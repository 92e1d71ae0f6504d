package router

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/systemone"
)

// Used is what an upstream's call used.
type Used struct {
	Cost                             USD
	Input, Output, Reasoning, Cached int64
}

func (u Used) used() used {
	return used{cost: u.Cost, input: u.Input, output: u.Output, reasoning: u.Reasoning, cached: u.Cached}
}

func shown(u used) Used {
	return Used{Cost: u.cost, Input: u.input, Output: u.output, Reasoning: u.reasoning, Cached: u.cached}
}

// Flights are the shared calls of a test.
type Flights struct{ flights }

// Plus adds v.
func (u Used) Plus(v Used) Used { return shown(u.used().plus(v.used())) }

// Landing is how a shared call ended for one caller.
type Landing struct {
	Err                error
	ID                 string
	Left, Speaks, Late bool
	Early, First       bool // the caller left before the end; remainders are the caller's
	Call               any  // equal for callers of one call
	portion            portion
}

// Part is the caller's share.
func (l Landing) Part(total Used, most USD) Used { return shown(l.portion.part(total.used(), most)) }

// Share calls an upstream together with other callers of the same key, until ctx
// ends. Where awaits is true, the caller then waits for the end of the call.
// Otherwise it leaves and pays its share of the estimate.
func (f *Flights) Share(ctx context.Context, key byte, awaits bool, estimate Used, call func(context.Context) (Reply, error)) Landing {
	s := f.board(ctx, digest{key}, time.Minute, func() func(context.Context) ending {
		return func(ctx context.Context) (end ending) {
			end.reply, end.err = call(ctx)
			return end
		}
	})
	l := s.wait(ctx, func() leave { return leave{awaits: awaits, estimate: estimate.used()} })
	return Landing{
		Err: l.err, ID: l.reply.ID, Left: l.left, Speaks: l.speaks, Late: l.late,
		Early: l.portion.fixed != nil, First: l.portion.place == 0, Call: s.flight, portion: l.portion,
	}
}

// Open returns how many calls can be joined.
func (f *Flights) Open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.open)
}

// SheetOf returns the digest by which a shared call is found.
func SheetOf(account string, e *Endpoint, m *Model, a *Attempt) [32]byte {
	var d sheetDigests
	return d.sheet(d.context(account, e, m, a), a.Request.Questions)
}

// QuestionOf returns the digest of a question.
func QuestionOf(q systemone.Question) [32]byte {
	var d sheetDigests
	return d.question([]systemone.Question{q}, 0)
}

// NewProcessMemory makes the default memory.
func NewProcessMemory(bytes int) Memory { return newProcessMemory(bytes) }

// Held returns how many entries a default memory has, and their bytes.
func Held(m Memory) (entries, bytes int) {
	p, ok := m.(*processMemory)
	if !ok {
		return 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries), p.bytes
}

// AppendRemembered writes an answer as a memory keeps it.
func AppendRemembered(q *systemone.Question, a *systemone.Answer, at time.Time) []byte {
	return appendRemembered(q, a, at)
}

// ReadRemembered is the reverse of AppendRemembered.
func ReadRemembered(q *systemone.Question, value []byte) (systemone.Answer, time.Time, bool) {
	return readRemembered(q, value)
}

// MemoryOverhead is what an entry takes beside its value.
const MemoryOverhead = memoryOverhead
