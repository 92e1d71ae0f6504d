// Command bench measures what the gateway costs on the wire.
//
//	go run ./examples/bench
//
// It starts processes on loopback: an upstream with a constant reply and, in front of
// it, three gateways. The floor is the least that a handler of net/http can do: read
// the body, ask over a kept connection, write the reply. The others are a bare
// httputil.ReverseProxy and examples/server. The floor collects garbage as seldom as
// the server (GOGC=400). All get in turn the same 1 KB request over 1 and 32 kept-alive
// connections. The command prints requests per second, latencies, and the processor
// time of the gateway per request (Linux only), each the median of -rounds rounds, and
// the ratios of the server to the other two.
//
// Flags: -time DURATION of one measurement (default 3s), -rounds N (default 3).
//
//	go run ./examples/bench -bodies 600
//
// measures the server's memory instead (Linux only). It sends so many bodies of 4 MiB,
// 100 at once, to an upstream that takes 300 ms, and then waits a minute. On the
// machine described below the server, which holds at most 256 MiB of bodies, took at
// most 715 MiB, and 24 MiB after 20 seconds. With GOGC=400 but without its memory limit
// and without returning memory it took 1,837 MiB, and kept it.
//
//	go run ./examples/bench -slow 8000
//
// measures memory with many calls in flight (Linux only). So many callers each send
// three requests to each gateway, with an upstream that takes 2 s. A call in flight
// needs two file descriptors. With 8,000 calls the proxy took at most 687 MiB and the
// server 644, or 654 without the limit that it sets itself (GOMEMLIMIT=off). A waiting
// call takes 46 KB in the server: 18 for its stack, 12 for net/http's server, 2 for the
// buffer of the reply, and its request.
//
// # What is above the floor
//
// On two cores of a busy virtual machine, as medians of nine interleaved rounds, floor,
// proxy and server took 63, 130 and 162 µs of processor time on one connection, and 34,
// 84 and 75 on 32. The server takes 2.6 and 2.2 times the time of the floor. The
// difference is decoding and checking the request and the reply (11 µs on 32
// connections), accounting (5), contexts and their timers (3), the check of an idle
// connection (1), and encoding, planning and policies. Of all these, allocation and
// collection are 9 µs. On one connection threads sleep and wake between system calls,
// the more often the longer a request takes.
//
// # Where the time goes
//
// On two cores of a virtual machine, as the median of five rounds, a request takes
// 393 µs of processor time in the proxy and 396 in the server on one connection (1.01),
// and 194 and 192 on 32 (0.99). Runs differ by a tenth. Profiles at 32 connections, from
// a noisier run with about 220 µs a request each, divide the time so:
//
//	                                                     proxy  server
//	system calls that write and read                      29 %    28 %
//	other system calls, wake-ups and the scheduler         6 %     6 %
//	net/http's server                                     12 %    12 %
//	the way to the upstream, without system calls         20 %     7 %
//	what ReverseProxy does                                 7 %
//	decoding, checking and encoding (systemone)                   15 %
//	deciding and policies (router, keys, httpapi, …)              16 %
//	accounting (store/memory)                                      5 %
//	allocation                                            11 %     9 %
//	garbage collection                                    15 %     3 %
//
// The server does more than a proxy and saves that time in three places. It calls the
// upstream without switching goroutines (docs/adr/0017-kept-connections.md); that works
// for small requests over plain http, and over https it costs what the proxy does. It
// collects garbage less often, as its package comment says; GOGC=100 adds some 20 µs on
// 32 connections. And it logs no answers. The timeouts of its listener and of its
// attempts have no measurable cost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if code := status(err); code != exitDone {
		_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(code)
	}
}

// What the program returns to the shell.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // a mistake in the flags
)

// errUsage is wrapped by errors about the flags.
var errUsage = errors.New("bad arguments")

// status returns the exit status of a program that ended with err.
func status(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errUsage):
		return exitUsage
	default:
		return exitFailed
	}
}

// settings are the flags. Role, target and delay are for processes that run bench's own
// binary.
type settings struct {
	length time.Duration
	rounds int
	bodies int
	slow   int
	role   string
	target string
	delay  time.Duration
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.DurationVar(&s.length, "time", 3*time.Second, "`DURATION` of one measurement")
	flags.IntVar(&s.rounds, "rounds", 3, "`N` measurements of each kind")
	flags.IntVar(&s.bodies, "bodies", 0, "measure the server's memory instead, with `N` bodies of 4 MiB")
	flags.IntVar(&s.slow, "slow", 0, "measure memory instead, with `N` calls in flight on an upstream that takes 2 s")
	flags.StringVar(&s.role, "role", "", "used internally: upstream, floor or proxy")
	flags.StringVar(&s.target, "target", "", "used internally: address behind the floor or the proxy")
	flags.DurationVar(&s.delay, "delay", 0, "used internally: how late the upstream answers")
	flags.SetOutput(io.Discard) // main prints a mistake as one line, without the usage
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(out)
		flags.Usage()
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case s.role == "upstream" && s.delay > 0:
		return listen(ctx, late(s.delay), out)
	case s.role == "upstream":
		return listen(ctx, upstream(), out)
	case s.role == "floor":
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(floorGCPercent)
		}
		return listen(ctx, &floor{target: s.target}, out)
	case s.role == "proxy":
		return listen(ctx, proxy(s.target), out)
	case s.role != "" || flags.NArg() > 0 || s.rounds < 1 || s.length <= 0 || s.bodies < 0 || s.slow < 0:
		return fmt.Errorf("%w %q", errUsage, args)
	case s.bodies > 0:
		return memory(ctx, s.bodies, watchQuiet, out)
	case s.slow > 0:
		return crowd(ctx, s.slow, slowDelay, out)
	}
	return compare(ctx, s, out)
}

// compare runs every measurement and prints the table.
func compare(ctx context.Context, s settings, out io.Writer) error {
	f, err := start(ctx, 0)
	if err != nil {
		return err
	}
	defer f.stop()
	_, _ = fmt.Fprintf(out, "%-10s %5s %10s %10s %10s %12s\n", "gateway", "conns", "req/s", "p50", "p99", "CPU µs/req")
	for _, conns := range []int{1, 32} {
		results := make([][]result, len(f.gateways))
		for range s.rounds { // in turn, so that a drift of the machine affects all
			for i, g := range f.gateways {
				r, err := drive(ctx, g, conns, s.length)
				if err != nil {
					return fmt.Errorf("%s: %w", g.name, err)
				}
				results[i] = append(results[i], r)
			}
		}
		var cpu []float64
		for i, g := range f.gateways {
			m := median(results[i])
			cpu = append(cpu, m.cpu)
			_, _ = fmt.Fprintf(out, "%-10s %5d %10.0f %10s %10s %12.1f\n", g.name, conns, m.rate,
				m.p50.Round(time.Microsecond), m.p99.Round(time.Microsecond), m.cpu)
		}
		if cpu[0] > 0 && cpu[1] > 0 {
			_, _ = fmt.Fprintf(out, "CPU per request: server / floor %.2f, server / proxy %.2f\n", cpu[2]/cpu[0], cpu[2]/cpu[1])
		}
	}
	return nil
}

// result is one measurement, or the median of several.
type result struct {
	rate     float64 // requests per second
	p50, p99 time.Duration
	cpu      float64 // processor time of the gateway per request in µs; 0 if not known
}

func median(rs []result) result {
	return result{
		rate: middle(rs, func(r result) float64 { return r.rate }),
		p50:  time.Duration(middle(rs, func(r result) float64 { return float64(r.p50) })),
		p99:  time.Duration(middle(rs, func(r result) float64 { return float64(r.p99) })),
		cpu:  middle(rs, func(r result) float64 { return r.cpu }),
	}
}

func middle(rs []result, f func(result) float64) float64 {
	vs := make([]float64, 0, len(rs))
	for _, r := range rs {
		vs = append(vs, f(r))
	}
	slices.Sort(vs)
	return vs[len(vs)/2]
}
