package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/telemetry"
	"github.com/signalbox/signalbox/router/telemetry/export"
)

// traces sends the spans of all calls to the destinations of the flags.
type traces struct {
	queues    []*export.Queue
	file      *os.File // of -traces, or nil
	intercept router.Interceptor
}

// openTraces opens the destinations. It returns nil if the flags name none.
func openTraces(o options, log *slog.Logger) (*traces, error) {
	if o.otlp == "" && o.traces == "" {
		return nil, nil //nolint:nilnil // a nil *traces is one without destinations
	}
	t := &traces{}
	if o.otlp != "" {
		to, err := export.NewCollector(export.HTTPConfig{URL: o.otlp})
		if err != nil {
			return nil, mistake{fmt.Errorf("-otlp: %w", err)}
		}
		if err := t.add(to, log); err != nil {
			return nil, err
		}
	}
	if o.traces != "" {
		var err error
		if t.file, err = os.OpenFile(o.traces, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, mistake{fmt.Errorf("-traces: %w", cause(err))}
		}
		if err := t.add(export.NewFile(t.file, ""), log); err != nil {
			return nil, err
		}
	}
	sinks := make([]telemetry.Sink, len(t.queues))
	for i, q := range t.queues {
		sinks[i] = q
	}
	made, err := telemetry.New(telemetry.Config{Sinks: func(router.Principal) []telemetry.Sink { return sinks }})
	if err != nil {
		return nil, err
	}
	t.intercept = made.Intercept
	return t, nil
}

func (t *traces) add(to export.Destination, log *slog.Logger) error {
	q, err := export.NewQueue(export.Config{Destination: to, Logger: log})
	if err != nil {
		return err
	}
	t.queues = append(t.queues, q)
	return nil
}

// interceptors returns what observes the calls.
func (t *traces) interceptors() []router.Interceptor {
	if t == nil {
		return nil
	}
	return []router.Interceptor{t.intercept}
}

// run exports until ctx ends and the queues are empty, or a few seconds have passed.
func (t *traces) run(ctx context.Context) {
	if t == nil {
		return
	}
	var work sync.WaitGroup
	for _, q := range t.queues {
		work.Go(func() { q.Run(ctx) })
	}
	work.Wait()
}

// close closes the file, after run.
func (t *traces) close() error {
	if t == nil || t.file == nil {
		return nil
	}
	return t.file.Close()
}
