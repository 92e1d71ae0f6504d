package content

import (
	"context"
	"errors"
	"runtime"

	"github.com/signalbox/signalbox/router"
)

// ErrScanLimit is wrapped by the refusal of a request whose content filters need more
// work than one request may cause.
var ErrScanLimit = errors.New("content: scan limit exceeded")

// OverLimit returns the refusal of a request that needs too much work. It wraps
// [ErrScanLimit].
func OverLimit() *router.Error {
	return &router.Error{Class: router.PermissionDenied, Message: "Content filter limit exceeded", Err: ErrScanLimit}
}

// Units of work. One step is one instruction of a pattern's program times one
// byte of the text that the program reads.
const (
	// maxSteps is the budget that all patterns share in one request.
	maxSteps = 500_000_000
	// runSteps is the cost of each run over a string besides its bytes, because starting
	// a run takes about as long as eight steps.
	runSteps = 8
	// matchSteps is the cost of each match. A match that is replaced costs as much for
	// each byte of its label plus eight, which bounds how much a request can grow.
	matchSteps = 64
	// checkEvery is how many steps or bytes a scan processes, in about 30 µs, before it
	// checks its context and yields to other goroutines.
	checkEvery = 16 << 10
	// freeChecks is how many checks a scan runs without a place at the gate, turnChecks
	// how many until it gives its place to the next scan.
	freeChecks, turnChecks = 16, 256
	// maxEffort is the budget that all builtin filters share in one request, in units of
	// about a nanosecond. With all filters on, 4 MiB of prose use a tenth of it, and 4
	// MiB of a log with an IP address in every line less than half.
	maxEffort = 1_600_000_000
	// Costs of builtin filters besides one unit for each byte: for each text (run); at
	// each run of digits (digit); at each capital, @ or house number (word); for each
	// number whose context is checked, and again if it is found (find); for each byte
	// that is searched for prompt injection (order); for each byte that a program reads
	// (step); for each byte of a name or question that is searched for context (words).
	runEffort, digitEffort, wordEffort, findEffort, orderEffort, stepEffort, wordsEffort = 40, 25, 120, 150, 5, 12, 20
	// builtinSteps is how many steps of builtin programs cost as much as a byte, because
	// few of their instructions are active at a time.
	builtinSteps = 32
)

// meter counts the work of one scan and ends the scan when its context ends or its budget
// is used up. The error is kept: after it no work begins.
type meter struct {
	ctx     context.Context //nolint:containedctx // a meter does not outlive its scan
	account string
	gate    *gate // nil lets every scan work at once
	left    int64 // remaining steps of patterns
	effort  int64 // remaining units of builtin filters
	due     int64 // steps or bytes until the next check
	checks  int   // checks until the scan needs a place at the gate, or gives its place away
	inside  bool  // the scan has a place
	mark    int   // index at which a builtin filter checks next
	err     error
}

func newMeter(ctx context.Context, g *gate, account string) *meter {
	return &meter{ctx: ctx, account: account, gate: g, left: maxSteps, effort: maxEffort, due: checkEvery, checks: freeChecks}
}

// charge subtracts n steps from the budget of patterns.
func (m *meter) charge(n int64) error {
	if m.left -= n; m.left < 0 && m.err == nil {
		m.err = OverLimit()
	}
	return m.work(n)
}

// chargeBuiltin subtracts n units from the budget of builtin filters, and sets err if
// none are left.
func (m *meter) chargeBuiltin(n int) {
	if m.effort -= int64(n); m.effort < 0 && m.err == nil {
		m.err = OverLimit()
	}
}

// work records that n bytes or steps were processed.
func (m *meter) work(n int64) error {
	if m.due -= n; m.due > 0 && m.err == nil {
		return nil
	}
	return m.check()
}

// check checks the context and, in a long scan, waits for a place at the gate.
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

// stop returns the place at the gate, if the scan has one. It may be called at any time.
func (m *meter) stop() {
	if m.inside {
		m.inside = false
		m.gate.leave(m.account)
	}
}

// begin tells the meter that a builtin filter starts reading a text.
func (m *meter) begin() { m.mark = checkEvery }

// ended reports whether a builtin filter that has read up to i must stop. The reason is
// in err.
func (m *meter) ended(i int) bool {
	if i < m.mark {
		return false
	}
	m.mark = i + checkEvery
	return m.check() != nil
}
