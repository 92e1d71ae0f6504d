package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// request returns the 1 KB request that every caller sends.
func request() string {
	state := strings.Repeat("I was charged twice for May and nobody answers my mails. ", 8)
	return `{"model":"acme/judge","state":{"ticket":"` + state + `"},"questions":{` +
		`"refund":{"type":"noul","instructions":"Does ticket ask for money back?","criteria":{"true":"an explicit request","false":"no request for money"}},` +
		`"desk":{"type":"choice","instructions":"Which team owns this?","criteria":{"billing":"charges and payments","technical":"something is broken","sales":"questions before buying"}},` +
		`"anger":{"type":"score","instructions":"How upset is the customer?","criteria":["calm","annoyed","furious"]}}}`
}

// drive measures a gateway with conns kept-alive connections for a time, after a
// warm-up.
func drive(ctx context.Context, g gateway, conns int, length time.Duration) (result, error) {
	if _, err := round(ctx, g, conns, length/4); err != nil { // warm up
		return result{}, err
	}
	before := cpuTime(g.pid)
	started := time.Now()
	took, err := round(ctx, g, conns, length)
	if err != nil {
		return result{}, err
	}
	elapsed, after := time.Since(started), cpuTime(g.pid)
	slices.Sort(took)
	n := len(took)
	return result{
		rate: float64(n) / elapsed.Seconds(),
		p50:  took[n/2],
		p99:  took[n*99/100],
		cpu:  float64((after - before).Microseconds()) / float64(n),
	}, nil
}

// round sends requests for a time and returns the duration of each.
func round(ctx context.Context, g gateway, conns int, length time.Duration) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, length+10*time.Second)
	defer cancel()
	took := make([][]time.Duration, conns)
	group, ctx := errgroup.WithContext(ctx)
	for i := range conns {
		group.Go(func() (err error) {
			took[i], err = caller(ctx, g, time.Now().Add(length))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(took...), nil
}

// caller sends the same request over one connection until end. It writes HTTP by hand,
// so that the load generator itself uses little processor time.
func caller(ctx context.Context, g gateway, end time.Time) ([]time.Duration, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", g.addr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	took, err := ask(conn, rawRequest(g), func(asked int) bool { return asked == 0 || time.Now().Before(end) && ctx.Err() == nil })
	return took, cmp.Or(err, ctx.Err())
}

// rawRequest returns the bytes of [request] as sent to a gateway.
func rawRequest(g gateway) []byte {
	body := request()
	return []byte("POST " + g.path + " HTTP/1.1\r\nHost: " + g.addr + "\r\nContent-Type: application/json\r\nAuthorization: Bearer " +
		g.key + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// ask sends raw over a connection as long as more returns true. It returns the duration
// of each request.
func ask(conn net.Conn, raw []byte, more func(asked int) bool) ([]time.Duration, error) {
	r := bufio.NewReader(conn)
	var took []time.Duration
	for more(len(took)) {
		asked := time.Now()
		if _, err := conn.Write(raw); err != nil {
			return nil, err
		}
		if err := readReply(r); err != nil {
			return nil, err
		}
		took = append(took, time.Since(asked))
	}
	return took, nil
}

func readReply(r *bufio.Reader) error {
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	return resp.Body.Close()
}

// cpuTime returns the processor time that a process has used, from Linux's
// /proc/PID/stat with its ticks of 10 ms. On other systems it returns 0.
func cpuTime(pid int) time.Duration {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return parseStat(string(data))
}

// parseStat returns the sum of user and system time in the text of /proc/PID/stat.
func parseStat(text string) time.Duration {
	end := strings.LastIndex(text, ") ") // the process name may contain spaces and brackets
	if end < 0 {
		return 0
	}
	fields := strings.Fields(text[end+2:])
	if len(fields) < 13 {
		return 0
	}
	user, userErr := strconv.ParseInt(fields[11], 10, 64)
	system, systemErr := strconv.ParseInt(fields[12], 10, 64)
	if userErr != nil || systemErr != nil {
		return 0
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
