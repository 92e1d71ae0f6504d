// Command bench measures what the gateway costs on the wire.
//
//	go run ./examples/bench
//
// It starts, as separate processes on loopback, an upstream that always
// answers the same and three gateways in front of it: the floor, the least that a
// handler of net/http can do (read the body, ask over a kept connection, write the
// reply); a bare httputil.ReverseProxy; and the server of examples/server. It
// drives them in turn with the same 1 KB request over 1 and 32 kept-alive
// connections. It prints requests per second, latencies, and the processor time of
// the gateway process per request (Linux only), each the median of -rounds rounds,
// and how the server compares with the other two. The floor collects garbage as
// seldom as the server (GOGC=400).
//
// Flags: -time DURATION of one measurement (default 3s), -rounds N (default 3).
//
//	go run ./examples/bench -bodies 600
//
// measures the server's memory instead (Linux only): so many bodies of 4 MiB,
// 100 at once, to an upstream that takes 300 ms, and then a minute of quiet. On
// the same machine the server, which holds 256 MiB of bodies at most, takes
// 715 MiB at most, and 24 MiB after 20 seconds. Without a limit of its memory and
// without returning it (GOMEMLIMIT, GOGC=400 alone) it took 1,837 MiB and kept it.
//
//	go run ./examples/bench -slow 8000
//
// measures memory with many calls in flight (Linux only): so many callers ask each
// gateway three times, of an upstream that takes 2 s. It needs two file descriptors
// for each call in flight. With 8,000 of them the proxy takes 687 MiB at most, and
// the server 644, or 654 without the limit that it sets itself (GOMEMLIMIT=off). A
// call that waits holds 46 KB in the server: 18 of stack, 12 of net/http's server,
// 2 to read the reply with, and its request.
//
// # What is above the floor
//
// On two cores of a virtual machine that others used too, medians of nine
// interleaved rounds, processor time of floor, proxy and server: 63, 130 and 162 µs
// on one connection, 34, 84 and 75 on 32. The server takes 2.6 and 2.2 times the
// floor's. Above the floor are decoding and checking the request and the reply
// (11 µs on 32 connections), accounting (5), contexts and their timers (3), the look
// at an idle connection (1), and encoding, planning and policies. Allocation and
// collection are 9 of all these. On one connection threads go to sleep and are woken
// between any two system calls, and the longer a request takes the more often.
//
// # Where the time goes
//
// On two cores of a virtual machine, the median of five rounds: 393 µs a
// request for the proxy and 396 for the server on one connection (1.01), 194 and
// 192 on 32 (0.99). Runs differ by a tenth. Of the processor time at 32
// connections, by a profile of each (in a noisier run, of about 220 µs each):
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
// Three things pay for what the server does beyond a proxy. It asks the upstream
// without changing goroutines (docs/adr/0017-kept-connections.md), which plain
// http and small requests allow: behind https it does as the proxy does. It
// collects garbage less often, as its package comment says; with GOGC=100 it
// needs some 20 µs more on 32 connections. And it logs no answers. The timeouts
// of its listener and of its attempts cost nothing that can be seen.
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

// errUsage is wrapped by what is wrong with the flags.
var errUsage = errors.New("bad arguments")

// status is what the program returns to the shell when it ended with err.
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

// settings are the flags. Role, target and delay are for the processes that bench
// starts of itself.
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
	flags.SetOutput(io.Discard) // a mistake is one line, not the whole usage
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
		for range s.rounds { // in turn, so that a drift of the machine hits all
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
	cpu      float64 // processor microseconds of the gateway per request; 0 where it is not known
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
