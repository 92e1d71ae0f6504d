package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// The settings of -slow.
const (
	slowDelay = 2 * time.Second // until the upstream answers
	slowAsks  = 3               // of each caller, one after another
	slowDials = 64              // connections that are opened at the same time
)

// crowd has n callers ask each gateway at the same time, and prints the memory of the
// gateway. The upstream answers after delay.
func crowd(ctx context.Context, n int, delay time.Duration, out io.Writer) error {
	f, err := start(ctx, delay)
	if err != nil {
		return err
	}
	defer f.stop()
	_, _ = fmt.Fprintf(out, "%-10s %9s %10s %10s %10s %14s\n", "gateway", "in flight", "req/s", "p50", "p99", "resident MiB")
	var most []int64
	for _, g := range f.gateways {
		conns, err := dialAll(ctx, g.addr, n)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		began := time.Now()
		took, err := askAll(ctx, g, conns)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		elapsed := time.Since(began)
		slices.Sort(took)
		most = append(most, resident(g.pid, "VmHWM"))
		_, _ = fmt.Fprintf(out, "%-10s %9d %10.0f %10s %10s %14d\n", g.name, n, float64(len(took))/elapsed.Seconds(),
			took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond), most[len(most)-1]>>20)
	}
	if most[1] > 0 {
		_, _ = fmt.Fprintf(out, "resident: server / proxy %.2f\n", float64(most[2])/float64(most[1]))
	}
	return nil
}

// dialAll opens n connections, slowDials at the same time, because more would overflow
// the listener's queue.
func dialAll(ctx context.Context, addr string, n int) ([]net.Conn, error) {
	conns := make([]net.Conn, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(slowDials)
	for i := range conns {
		group.Go(func() (err error) {
			var d net.Dialer
			conns[i], err = d.DialContext(ctx, "tcp", addr)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		closeAll(conns)
		return nil, err
	}
	return conns, nil
}

// askAll sends slowAsks requests over each connection, closes all connections, and
// returns the duration of each request.
func askAll(ctx context.Context, g gateway, conns []net.Conn) ([]time.Duration, error) {
	defer closeAll(conns)
	took := make([][]time.Duration, len(conns))
	raw := rawRequest(g)
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, func() { closeAll(conns) })() // ends reads that wait for a reply
	for i, conn := range conns {
		group.Go(func() (err error) {
			took[i], err = ask(conn, raw, func(asked int) bool { return asked < slowAsks })
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(took...), nil
}

func closeAll(conns []net.Conn) {
	for _, conn := range conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
}
