// Command bench measures what the gateway costs per request.
//
//	go run ./examples/bench
//
// It starts separate processes on loopback: an upstream that always sends the same
// answer, and three gateways in front of it. The floor does the minimum of a net/http
// handler: it reads the body, forwards it over a kept-alive connection and writes the
// reply. The proxy is a bare httputil.ReverseProxy. The server is examples/server. The
// floor uses the server's GOGC=400.
//
// bench sends each of them in turn the same 1 KB request, over 1 and over 32 kept-alive
// connections. It prints requests per second, latencies, and the processor time of the
// gateway per request (Linux only), each as the median of -rounds rounds, and the
// server's processor time as a multiple of the other two.
//
// Flags: -time DURATION of one measurement (default 3s), -rounds N (default 3), and
// -with FLAGS, which measures a second server with these flags, too.
//
//	go run ./examples/bench -bodies 600
//
// measures the server's memory instead (Linux only). It sends 600 bodies of 4 MiB, 100 at
// the same time, to an upstream that takes 300 ms, and then waits a minute. On the machine
// of the figures below, the server holds 256 MiB of bodies at most. It uses 715 MiB at
// most, and 24 MiB after 20 seconds. Without a memory limit and without returning memory
// (GOGC=400 and no GOMEMLIMIT) it used 1,837 MiB and kept them.
//
//	go run ./examples/bench -slow 8000
//
// measures memory with 8,000 calls in flight (Linux only). As many callers send each
// gateway three requests, and the upstream takes 2 s. Each call in flight needs two file
// descriptors. The proxy uses 687 MiB at most, the server 644, or 654 without the limit
// that it sets itself (GOMEMLIMIT=off). A waiting call holds 46 KB in the server: 18 KB of
// stack, 12 KB of net/http's server, 2 KB of buffer for the upstream's reply, and its
// request.
//
// # What is above the floor
//
// Measured on two cores of a shared virtual machine, as medians of nine interleaved
// rounds. The processor time of floor, proxy and server is 63, 130 and 162 µs on one
// connection, and 34, 84 and 75 µs on 32. So the server takes 2.6 and 2.2 times the
// floor's. On 32 connections the difference is decoding and checking the request and the
// reply (11 µs), accounting (5), contexts and their timers (3), checking an idle
// connection before its use (1), and encoding, planning and policies. Allocation and
// garbage collection are 9 µs of all these. On one connection threads go to sleep and are
// woken between any two system calls, and more often the longer a request takes.
//
// # Where the time goes
//
// Measured on two cores of a virtual machine, as medians of five rounds. A request takes
// 393 µs for the proxy and 396 for the server on one connection (1.01 times), and 194 and
// 192 µs on 32 (0.99 times). Runs differ by a tenth. The processor time on 32 connections,
// by a profile of each (in a noisier run, of about 220 µs each):
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
// Three savings make up for what the server does beyond a proxy. First, it asks the
// upstream without changing goroutines (docs/adr/0017-kept-connections.md). That works
// with plain http and small requests; with https it does as the proxy does. Second, it
// collects garbage less often, as its package comment says. With GOGC=100 it needs about
// 20 µs more on 32 connections. Third, it logs no answers. The timeouts of its listener
// and of its attempts cost nothing measurable.
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
	"strings"
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

// The exit codes of the program.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // invalid flags
)

// errUsage is wrapped by errors about the flags.
var errUsage = errors.New("bad arguments")

// status returns the exit code for err.
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

// settings are the flags. role, target and delay are for the processes that bench
// starts from its own binary.
type settings struct {
	length time.Duration
	rounds int
	bodies int
	slow   int
	with   string
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
	flags.StringVar(&s.with, "with", "", "measure a second server with these `FLAGS`, too, separated by spaces")
	flags.StringVar(&s.role, "role", "", "used internally: upstream, floor or proxy")
	flags.StringVar(&s.target, "target", "", "used internally: address behind the floor or the proxy")
	flags.DurationVar(&s.delay, "delay", 0, "used internally: the `DURATION` after which the upstream answers")
	flags.SetOutput(io.Discard) // an error prints one line instead of the usage
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
		return fmt.Errorf("%w %q: -h lists the flags", errUsage, args)
	case s.bodies > 0:
		return memory(ctx, s.bodies, watchQuiet, out)
	case s.slow > 0:
		return crowd(ctx, s.slow, slowDelay, out)
	}
	return compare(ctx, s, out)
}

// compare runs all measurements and prints the table.
func compare(ctx context.Context, s settings, out io.Writer) error {
	f, err := start(ctx, 0, strings.Fields(s.with)...)
	if err != nil {
		return err
	}
	defer f.stop()
	_, _ = fmt.Fprintf(out, "%-10s %5s %10s %10s %10s %12s\n", "gateway", "conns", "req/s", "p50", "p99", "CPU µs/req")
	for _, conns := range []int{1, 32} {
		results := make([][]result, len(f.gateways))
		for range s.rounds { // in turn, so that a change of the machine's speed affects all gateways
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
			if len(cpu) > 3 {
				_, _ = fmt.Fprintf(out, "CPU per request: with %s / server %.2f\n", s.with, cpu[3]/cpu[2])
			}
		}
	}
	return nil
}

// result is one measurement, or the median of several.
type result struct {
	rate     float64 // requests per second
	p50, p99 time.Duration
	cpu      float64 // processor time of the gateway per request, in µs; 0 if unknown
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
