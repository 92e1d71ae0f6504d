package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
	"github.com/signalbox/signalbox/router/telemetry"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // a mistake in the flags or the configuration
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// gcPercent lets the heap grow to five times the live data before a collection. A
// router keeps only a few megabytes live, so at the default of 100 the collector
// would run dozens of times a second under load. GOGC overrides it.
const gcPercent = 400

// defaultRetention is longer than a year, so that a month can be compared with the
// same month of the year before.
const defaultRetention = 400 // days

// options are the flags.
type options struct {
	addr, keysFile, config string
	retention              int    // days; 0 keeps everything
	data, postgres         string // at most one is set; if neither is, storage is in memory
	leases                 bool
	limits                 limits
	abandoned              router.Abandon
	routing                routingConfig // of the configuration file
	receivers              []hooks.Receiver
	check                  bool
	origins                string // separated by commas
	creditsURL             string
	metricsAddr            string // "" serves no metrics
	otlp, traces           string // where traces go; "" is nowhere
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints a mistake as one line, without the usage
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`HOST:PORT` to listen on; port 0 picks a free one")
	flags.StringVar(&o.metricsAddr, "metrics-addr", "", "`HOST:PORT` for /metrics, /healthz and /readyz; port 0 picks a free one")
	flags.StringVar(&o.keysFile, "keys-file", "", "write the base URL and the keys to `FILE` once the server listens")
	flags.StringVar(&o.config, "config", "", "catalog `FILE` in place of the built-in one")
	flags.StringVar(&o.data, "data", "", "store everything in `FOLDER`, which is created if missing")
	flags.StringVar(&o.postgres, "postgres", "", "store everything in the PostgreSQL database `DSN` (default: the value of "+postgresEnv+")")
	flags.BoolVar(&o.leases, "leases", false, "admit calls from slices of the budgets, leased from PostgreSQL")
	o.limits.define(flags)
	flags.TextVar(&o.abandoned, "abandoned", router.AbandonEstimate, "cost of an attempt if its caller hangs up: `estimate`, void or finish")
	flags.BoolVar(&o.check, "check", false, "check the configuration, list possible mistakes, and exit without serving")
	flags.StringVar(&o.origins, "origins", "", "allow browser pages of the origins in `LIST`, separated by commas")
	flags.StringVar(&o.creditsURL, "credits-url", "", "`URL` where credits are bought, for the refusal of a call without credits")
	flags.StringVar(&o.otlp, "otlp", "", "send traces to the OpenTelemetry collector at `URL`, as OTLP over HTTP in JSON")
	flags.StringVar(&o.traces, "traces", "", "append traces to `FILE`, as JSON Lines")
	flags.IntVar(&o.retention, "retention-days", defaultRetention, "delete events, records of changes and past windows after `DAYS`; 0 keeps them")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(stderr)
		flags.Usage()
		return o, err
	} else if err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err := o.checkStorage(flags); err != nil {
		return o, err
	}
	if err := o.limits.check(); err != nil {
		return o, err
	}
	if least := int(signalbox.MinRetention / (24 * time.Hour)); o.retention != 0 && o.retention < least {
		return o, fmt.Errorf("-retention-days: %d is less than %d, which activity and limits need", o.retention, least)
	}
	if err := checkAddr(o.addr); err != nil {
		return o, fmt.Errorf("-addr: %w", err)
	}
	if o.metricsAddr != "" {
		if err := checkAddr(o.metricsAddr); err != nil {
			return o, fmt.Errorf("-metrics-addr: %w", err)
		}
	}
	if o.creditsURL != "" {
		if err := checkCreditsURL(o.creditsURL); err != nil {
			return o, fmt.Errorf("-credits-url: %w", err)
		}
	}
	if o.keysFile != "" {
		if err := checkKeysFile(o.keysFile); err != nil {
			return o, fmt.Errorf("-keys-file: %w", err)
		}
	}
	return o, nil
}

func checkAddr(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q is not a port", port)
	}
	return nil
}

// originList splits the origins. It does not check them, because httpapi does.
func (o options) originList() []string {
	if o.origins == "" {
		return nil
	}
	list := strings.Split(o.origins, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

func checkCreditsURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("must be an address that begins with https:// or http://")
	}
	return nil
}

// checkStorage refuses two storages at once, and flags with an empty value. An empty
// value usually comes from a shell variable that is not set. Without the check the
// server would silently use memory or the built-in catalog.
func (o options) checkStorage(flags *flag.FlagSet) (err error) {
	if o.data != "" && o.postgres != "" {
		return errors.New("-data and -postgres both say where to keep things: choose one")
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Value.String() == "" {
			err = fmt.Errorf("-%s: is empty", f.Name)
		}
	})
	return err
}

// run serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "server: %v\n", err)
		return exitUsage
	}
	c := builtin()
	if o.config != "" {
		if c, err = readConfig(o.config); err != nil {
			_, _ = fmt.Fprintf(stderr, "server: configuration: %v\n", err)
			return exitUsage
		}
	}
	o.routing = c.Routing
	place := cmp.Or(o.config, "built-in catalog")
	var warnings []string
	b := builder{getenv: getenv, warn: func(line string) { warnings = append(warnings, line) }}
	catalog, err := b.catalog(c)
	if err == nil {
		o.receivers, err = b.receivers(c)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "server: configuration: %s: %v\n", place, err)
		return exitUsage
	}
	warnings = append(warnings, stagesWarnings(catalog)...)
	if o.check {
		c.report(catalog, place, warnings, stdout)
		return exitOK
	}
	for _, line := range warnings {
		_, _ = fmt.Fprintf(stderr, "server: warning: %s\n", line)
	}
	// The router logs answers at Info, which costs a tenth of a request's processor
	// time: see the package comment.
	logs := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := start(ctx, catalog, o, getenv, stdout, logs); err != nil {
		_, _ = fmt.Fprintf(stderr, "server: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		if _, ok := errors.AsType[mistake](err); ok {
			return exitUsage
		}
		return exitFailed
	}
	return exitOK
}

// start opens the storage and serves until ctx ends.
func start(
	ctx context.Context, catalog *router.Catalog, o options, getenv func(string) string, stdout io.Writer, logs *slog.Logger,
) (err error) {
	defer func() {
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = nil // stopped while it started
		}
	}()
	defer limitMemory(o.limits.bodies, getenv)()
	kept, err := openStorage(ctx, o, getenv)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	to, err := openTraces(o, logs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	if to != nil {
		logs = slog.New(telemetry.Handler(logs.Handler()))
	}
	s, err := newService(ctx, catalog, kept, o, time.Now, logs, to.interceptors()...)
	if errors.Is(err, signalbox.ErrConfig) {
		return mistake{err}
	}
	if err != nil {
		return err
	}
	s.traces = to
	return s.serve(ctx, o, stdout)
}
