package content

import (
	"context"
	"errors"
	"runtime"

	"github.com/signalbox/signalbox/router"
)

// ErrScanLimit is the cause of the refusal of a request whose content filters
// would need more work than one request may cause.
var ErrScanLimit = errors.New("content: scan limit exceeded")

// OverLimit returns the refusal of a request that needs too much work, an
// [ErrScanLimit].
func OverLimit() *router.Error {
	return &router.Error{Class: router.PermissionDenied, Message: "Content filter limit exceeded", Err: ErrScanLimit}
}

// Units of work. One step is one instruction of a pattern's program times one
// byte of the text that the program reads.
const (
	// maxSteps is the budget that all patterns share in one request.
	maxSteps = 500_000_000
	// runSteps is what each run over a string costs besides its bytes. A run
	// costs about as much time before it reads its first byte.
	runSteps = 8
	// matchSteps is what each match costs. A match that is replaced costs so
	// many for each byte of its label, and for eight bytes more, which bounds
	// how much longer a request can become.
	matchSteps = 64
	// A scan asks its context, and lets other goroutines run, after so many
	// steps or bytes: some 30 µs.
	checkEvery = 16 << 10
	// A scan works so long before it needs a place at the gate, and so long until
	// it gives it to the next one.
	freeChecks, turnChecks = 16, 256
	// maxEffort is the budget that all builtin filters share in one request, in
	// units of about a nanosecond. With all of them on, 4 MiB of prose take a tenth
	// of it, and 4 MiB of a log with an IP address in every line less than half.
	maxEffort = 1_600_000_000
	// What builtin filters take from it besides one unit for each byte: for each
	// text; at each run of digits; at each capital, @ or number of a house; for each
	// number whose surroundings are looked at, and again if it is found; for each
	// byte in which they look for orders, for each that a program reads, and for each
	// of a name or a question that is asked what it tells.
	runEffort, digitEffort, wordEffort, findEffort, orderEffort, stepEffort, wordsEffort = 40, 25, 120, 150, 5, 12, 20
	// builtinSteps is how many steps of the programs of this package are as much
	// work as a byte. Few of their instructions are reached at a time.
	builtinSteps = 32
)

// meter counts the work of one scan. It ends the scan when its context ends or
// its budget is used up. The error stays: after it no work is begun.
type meter struct {
	ctx     context.Context //nolint:containedctx // a meter does not outlive its scan
	account string
	gate    *gate // nil lets every scan work at once
	left    int64 // of the steps of patterns
	effort  int64 // that is left to builtin filters
	due     int64 // until the next check
	checks  int   // until the scan needs a place at the gate, or the next one
	inside  bool  // it has a place
	mark    int   // where a builtin filter checks next
	err     error
}

func newMeter(ctx context.Context, g *gate, account string) *meter {
	return &meter{ctx: ctx, account: account, gate: g, left: maxSteps, effort: maxEffort, due: checkEvery, checks: freeChecks}
}

// charge takes n steps from the budget.
func (m *meter) charge(n int64) error {
	if m.left -= n; m.left < 0 && m.err == nil {
		m.err = OverLimit()
	}
	return m.work(n)
}

// chargeBuiltin takes n units from the budget of builtin filters, and sets err when none
// are left.
func (m *meter) chargeBuiltin(n int) {
	if m.effort -= int64(n); m.effort < 0 && m.err == nil {
		m.err = OverLimit()
	}
}

// work notes work of n bytes.
func (m *meter) work(n int64) error {
	if m.due -= n; m.due > 0 && m.err == nil {
		return nil
	}
	return m.check()
}

// check asks the context, and waits for a place at the gate: only scans that
// get so far need one.
func (m *meter) check() error {
	m.due = checkEvery
	if m.err == nil {
		m.err = m.ctx.Err()
	}
	if m.err != nil || m.gate == nil {
		return m.err
	}
	if m.checks--; m.checks > 0 {
		runtime.Gosched()
		return nil
	}
	m.stop()
	m.err = m.gate.enter(m.ctx, m.account)
	m.inside, m.checks = m.err == nil, turnChecks
	return m.err
}

// stop gives back the place at the gate. It may be called at any time.
func (m *meter) stop() {
	if m.inside {
		m.inside = false
		m.gate.leave(m.account)
	}
}

// begin says that a builtin filter begins to read a text.
func (m *meter) begin() { m.mark = checkEvery }

// ended reports whether a builtin filter that has read up to i must stop. Its
// caller finds the reason in err.
func (m *meter) ended(i int) bool {
	if i < m.mark {
		return false
	}
	m.mark = i + checkEvery
	return m.check() != nil
}
