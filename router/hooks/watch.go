package hooks

import (
	"context"
	"log/slog"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/router"
)

const (
	// mostNoted bounds the callers whose budgets wait for a comparison, and the alerts
	// that a process remembers.
	mostNoted = 100_000
	// lineBatch is how many lines one request to the ledger reads.
	lineBatch = 500
	day       = 24 * 60 * 60 // seconds
)

// watch collects the budgets of recent calls. A call adds only its caller to a map; the
// balances are read behind it.
type watch struct {
	mu    sync.Mutex
	noted map[caller]note

	ledger   router.Ledger
	percents []int
	// told are the IDs of alerts that this process has raised or found raised, so that
	// it does not ask the store again. Only the goroutine of Run uses it.
	told map[string]bool
}

// caller identifies calls with the same lines: windows begin at midnight UTC.
type caller struct {
	principal router.Principal
	day       int64
}

// note is what the latest calls of a caller were limited by.
type note struct {
	admitted time.Time
	budgets  []router.Budget
	refused  []string // words of the checks that refused a candidate
}

// budget is a limit in one window.
type budget struct {
	line  router.Line
	check string
	limit router.USD
	byok  bool
}

func newWatch(cfg Config) *watch {
	return &watch{
		noted: map[caller]note{}, told: map[string]bool{},
		ledger: cfg.Ledger, percents: cfg.Percents,
	}
}

// note remembers the budgets of a call that was charged or refused. While mostNoted callers
// wait for the next comparison, calls of further ones are not noted.
func (w *watch) note(c *router.Call) {
	if len(c.Budgets) == 0 || c.DryRun {
		return
	}
	refused := refusals(&c.Report)
	if len(refused) == 0 && !charged(&c.Report) {
		return
	}
	at := caller{c.Principal, c.Admitted.Unix() / day}
	w.mu.Lock()
	defer w.mu.Unlock()
	budgets := w.noted[at].budgets
	if !slices.Equal(budgets, c.Budgets) {
		budgets = slices.Clone(c.Budgets) // they are the call's
	}
	w.add(at, note{c.Admitted, budgets, refused})
}

// add adds a note. The caller holds w.mu.
func (w *watch) add(at caller, n note) {
	was, known := w.noted[at]
	if !known && len(w.noted) >= mostNoted {
		return
	}
	for _, word := range was.refused {
		if !slices.Contains(n.refused, word) {
			n.refused = append(n.refused, word)
		}
	}
	w.noted[at] = n
}

func charged(r *router.Report) bool {
	for a := range r.Attempts() {
		if a.Billed && (a.Cost > 0 || a.OwnCost > 0) {
			return true
		}
	}
	return false
}

// refusals returns the words of the checks that refused a candidate.
func refusals(r *router.Report) (words []string) {
	for _, l := range r.Legs {
		for _, s := range l.Skipped {
			if s.Reason == router.SkipLimit && !slices.Contains(words, s.Check.Word) {
				words = append(words, s.Check.Word)
			}
		}
	}
	return words
}

// take returns what was noted since the last call.
func (w *watch) take() map[caller]note {
	w.mu.Lock()
	defer w.mu.Unlock()
	noted := w.noted
	w.noted = map[caller]note{}
	return noted
}

// putBack adds notes again that could not be compared, except where a later call of the
// same caller was noted.
func (w *watch) putBack(noted map[caller]note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for at, n := range noted {
		if later, ok := w.noted[at]; ok {
			n.admitted, n.budgets = later.admitted, later.budgets
		}
		w.add(at, n)
	}
}

// lines returns the lines of all budgets that were noted.
func (w *watch) lines(noted map[caller]note) []router.Line {
	lines := map[router.Line]bool{}
	for at, n := range noted {
		for i := range n.budgets {
			if b := budgetOf(at, n, i); b.line != (router.Line{}) {
				lines[b.line] = true
			}
		}
	}
	return slices.Collect(maps.Keys(lines))
}

func budgetOf(at caller, n note, i int) budget {
	b := &n.budgets[i]
	return budget{b.Owner.Line(at.principal, b.Interval.Window(n.admitted)), b.Check.Word, b.Max, b.BYOK}
}

// balances reads the balances of lines.
func (w *watch) balances(ctx context.Context, lines []router.Line) (map[router.Line]router.Balance, error) {
	found := make(map[router.Line]router.Balance, len(lines))
	for part := range slices.Chunk(lines, lineBatch) {
		list, err := w.ledger.Balances(ctx, part)
		if err != nil {
			return nil, err
		}
		for i, line := range part {
			found[line] = list[i]
		}
	}
	return found, nil
}

// crossed returns the alerts of a caller's budgets, raised before or not.
func (w *watch) crossed(at caller, n note, balances map[router.Line]router.Balance) (due []Budget) {
	tightest := map[string]int{} // by check that refused, the budget with the least left
	left := func(i int) router.USD {
		b := budgetOf(at, n, i)
		balance := balances[b.line]
		return b.limit - balance.Spent.Of(b.byok) - balance.Held.Of(b.byok)
	}
	for i := range n.budgets {
		b := budgetOf(at, n, i)
		balance, read := balances[b.line]
		if !read {
			continue
		}
		if slices.Contains(n.refused, b.check) {
			if best, ok := tightest[b.check]; !ok || left(i) < left(best) {
				tightest[b.check] = i
			}
		}
		for _, percent := range w.percents {
			if b.limit > 0 && reaches(balance.Spent.Of(b.byok), b.limit, percent) {
				due = append(due, alertOf(at, n, i, balance, percent))
			}
		}
	}
	for _, i := range slices.Sorted(maps.Values(tightest)) {
		due = append(due, alertOf(at, n, i, balances[budgetOf(at, n, i).line], 0))
	}
	return due
}

// reaches reports whether spent is at least a percentage of limit.
func reaches(spent, limit router.USD, percent int) bool {
	spentHigh, spentLow := bits.Mul64(uint64(max(spent, 0)), 100)
	limitHigh, limitLow := bits.Mul64(uint64(limit), uint64(percent)) //nolint:gosec // neither is negative
	return spentHigh > limitHigh || spentHigh == limitHigh && spentLow >= limitLow
}

// alertOf describes a budget. Percent 0 is a refusal.
func alertOf(at caller, n note, i int, balance router.Balance, percent int) Budget {
	b := &n.budgets[i]
	p := at.principal
	alert := Budget{
		Account: p.Account, Check: b.Check.Word, Interval: b.Interval.String(), Window: b.Interval.Window(n.admitted),
		Percent: percent, Refused: percent == 0,
		Limit: b.Max, Spent: balance.Spent.Of(b.BYOK), Held: balance.Held.Of(b.BYOK), BYOK: b.BYOK,
	}
	switch b.Owner {
	case router.OwnerAccount:
		alert.Owner = "account"
	case router.OwnerWorkspace:
		alert.Owner, alert.Workspace = "workspace", p.Workspace
	case router.OwnerMember:
		alert.Owner, alert.Member = "member", p.Member
	case router.OwnerKey:
		alert.Owner, alert.Workspace, alert.KeyHash = "key", p.Workspace, p.KeyHash
	}
	return alert
}

// compare raises and delivers alerts at each interval, until ctx ends.
func (h *Hooks) compare(ctx context.Context) {
	ticks := time.NewTicker(h.cfg.Every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			h.raiseLast(ctx)
			return
		case <-ticks.C:
			if err := h.alert(ctx); err != nil && ctx.Err() == nil {
				h.cfg.Logger.WarnContext(ctx, "budgets could not be compared; tried again at the next interval", slog.Any("error", err))
			}
		}
	}
}
