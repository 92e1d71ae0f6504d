package hooks

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/typednil"
	"github.com/signalbox/signalbox/router"
)

// ErrConfig is wrapped by every error of [New].
var ErrConfig = errors.New("hooks: invalid configuration")

const (
	defaultQueue = 1000
	defaultEvery = 5 * time.Second
)

// Config configures [Hooks]. The zero value has no receivers and does nothing.
type Config struct {
	Receivers []Receiver
	// Queue is how many events wait for each receiver; default 1,000.
	Queue int
	// Percents are the percentages of a budget at which [BudgetReached] is raised, each
	// from 1 to 100; default 50, 80 and 100.
	Percents []int
	// Every is how often the budgets of recent calls are compared; default 5 s.
	Every time.Duration

	Ledger router.Ledger    // whose balances are compared; nil: no alerts of budgets
	Alerts AlertStore       // required with Ledger, where a receiver wants such alerts
	Logger *slog.Logger     // default slog.Default()
	Now    func() time.Time // default time.Now
	NewID  func() uuid.UUID // default random UUIDs
}

// Hooks collects events and passes them to receivers. It is safe for concurrent use.
type Hooks struct {
	cfg       Config
	receivers []*receiver
	watch     *watch // nil without alerts of budgets
	pending   pending
}

// New makes hooks. It starts no goroutine: see [Hooks.Run].
func New(cfg Config) (*Hooks, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Hooks{cfg: cfg}
	for _, r := range cfg.Receivers {
		h.receivers = append(h.receivers, newReceiver(r, cfg))
	}
	if cfg.Ledger != nil && h.wants(BudgetReached, BudgetRefused) {
		if cfg.Alerts == nil {
			return nil, fmt.Errorf("%w: Alerts is required for alerts of budgets", ErrConfig)
		}
		h.watch = newWatch(cfg)
	}
	return h, nil
}

func (cfg Config) withDefaults() (Config, error) {
	if name := typednil.Field(cfg); name != "" {
		return cfg, fmt.Errorf("%w: %s holds a nil", ErrConfig, name)
	}
	if cfg.Queue < 0 || cfg.Every < 0 {
		return cfg, fmt.Errorf("%w: Queue and Every must not be negative", ErrConfig)
	}
	if cfg.Queue == 0 {
		cfg.Queue = defaultQueue
	}
	if cfg.Every == 0 {
		cfg.Every = defaultEvery
	}
	if cfg.Percents == nil {
		cfg.Percents = []int{50, 80, 100}
	}
	cfg.Percents = slices.Compact(slices.Sorted(slices.Values(cfg.Percents)))
	for _, p := range cfg.Percents {
		if p < 1 || p > 100 {
			return cfg, fmt.Errorf("%w: Percents has %d, which is not from 1 to 100", ErrConfig, p)
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = uuid.New
	}
	return cfg.withReceivers()
}

func (cfg Config) withReceivers() (Config, error) {
	cfg.Receivers = slices.Clone(cfg.Receivers)
	for i := range cfg.Receivers {
		r := &cfg.Receivers[i]
		if r.Name == "" {
			r.Name = fmt.Sprintf("receiver %d", i+1)
		}
		if r.Handler == nil || typednil.Is(r.Handler) {
			return cfg, fmt.Errorf("%w: Receivers[%d].Handler is nil", ErrConfig, i)
		}
		for _, t := range r.Types {
			if !slices.Contains(Types(), t) {
				return cfg, fmt.Errorf("%w: Receivers[%d].Types has the unknown type %q", ErrConfig, i, t)
			}
		}
	}
	return cfg, nil
}

// wants reports whether a receiver wants events of one of these types.
func (h *Hooks) wants(types ...Type) bool {
	return slices.ContainsFunc(h.receivers, func(r *receiver) bool {
		return slices.ContainsFunc(types, r.wants)
	})
}

// Run delivers events until ctx ends, and returns when every handler has returned. Call
// it once, in a goroutine of its own. Events that then wait are lost, and the log says how
// many. Alerts of budgets are not: what the last calls have reached is stored before Run
// returns, which takes five seconds at most.
func (h *Hooks) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	for _, r := range h.receivers {
		work.Go(func() { r.run(ctx) })
	}
	if h.watch != nil {
		work.Go(func() { h.compare(ctx) })
	}
}

// Counts says what became of a receiver's events since the hooks were made. An alert that
// is delivered again counts again.
type Counts struct {
	Receiver  string
	Delivered int64
	Failed    int64 // the handler returned an error
	Dropped   int64 // the queue was full
	Waiting   int   // in the queue
}

// Counts returns the counts of each receiver, in the order of Config.Receivers.
func (h *Hooks) Counts() []Counts {
	list := make([]Counts, len(h.receivers))
	for i, r := range h.receivers {
		list[i] = Counts{
			Receiver: r.Name, Delivered: r.delivered.Load(), Failed: r.failed.Load(),
			Dropped: r.dropped.Load(), Waiting: len(r.queue),
		}
	}
	return list
}

// emit queues an event that is in memory only, for each receiver that wants its type.
func (h *Hooks) emit(at time.Time, data Data) {
	id := h.cfg.NewID()
	e := Event{ID: "evt_" + hex.EncodeToString(id[:]), At: at, Data: data}
	for _, r := range h.receivers {
		if r.wants(data.Type()) {
			r.offer(delivery{event: e})
		}
	}
}
