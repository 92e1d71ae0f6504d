package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// What -bodies sends: bodies of the largest accepted size, many at once, to a slow
// upstream, so that they pile up in the server. Afterwards the server's memory is
// watched for watchQuiet.
const (
	bodySize    = 4 << 20
	bodiesAt    = 100
	slowAnswer  = 300 * time.Millisecond
	watchQuiet  = time.Minute
	watchEvery  = 10 * time.Second
	bodyTimeout = 2 * time.Minute
	room        = "256MiB" // limit of the server's body memory; the one key of the test may use all of it
)

// largeRequest returns [request] with a state that makes it size bytes long.
func largeRequest(size int) []byte {
	small := request()
	at := strings.Index(small, `"},"questions"`)
	fill := strings.Repeat("Nobody answers. ", (size-len(small))/16+1)[:size-len(small)]
	return []byte(small[:at] + fill + small[at:])
}

// memory sends n large bodies and prints the greatest memory of the server, and its
// memory during the quiet time afterwards.
func memory(ctx context.Context, n int, quiet time.Duration, out io.Writer) error {
	f := &fleet{}
	defer func() { f.stop() }()
	var err error
	if f.dir, err = os.MkdirTemp("", "signalbox-bench-"); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, up, err := f.spawn(ctx, self, "-role", "upstream", "-delay", slowAnswer.String())
	if err != nil {
		return err
	}
	g, err := f.server(ctx, up, "-bodies", room, "-key-bodies", room, "-account-bodies", room)
	if err != nil {
		return err
	}
	idle := resident(g.pid, "VmRSS")
	began := time.Now()
	answered, refused, err := flood(ctx, g, n)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d bodies of %d MiB, %d at once, in %s: %d answered, %d refused for want of room\n",
		n, bodySize>>20, bodiesAt, time.Since(began).Round(100*time.Millisecond), answered, refused)
	_, _ = fmt.Fprintf(out, "resident: %d MiB before, %d MiB at most", idle>>20, resident(g.pid, "VmHWM")>>20)
	for waited := time.Duration(0); ; waited += watchEvery {
		_, _ = fmt.Fprintf(out, ", %d MiB after %s", resident(g.pid, "VmRSS")>>20, waited)
		if waited >= quiet {
			_, err := fmt.Fprintln(out)
			return err
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// flood sends n bodies over bodiesAt connections and counts the replies.
func flood(ctx context.Context, g gateway, n int) (answered, refused int64, err error) {
	body := largeRequest(bodySize)
	client := &http.Client{Timeout: bodyTimeout, Transport: &http.Transport{
		DialContext: (&net.Dialer{}).DialContext, MaxIdleConnsPerHost: bodiesAt,
	}}
	defer client.CloseIdleConnections()
	var served, full atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(bodiesAt)
	for range n {
		group.Go(func() error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.addr+g.path, bytes.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+g.key)
			resp, err := client.Do(r)
			if err != nil {
				return err
			}
			defer func() { _ = resp.Body.Close() }()
			text, err := io.ReadAll(resp.Body)
			switch {
			case err != nil:
				return err
			case resp.StatusCode == http.StatusOK:
				served.Add(1)
			case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests:
				full.Add(1)
			default:
				return fmt.Errorf("%s: %.200s", resp.Status, text)
			}
			return nil
		})
	}
	err = group.Wait()
	return served.Load(), full.Load(), err
}

// resident returns a figure of Linux's /proc/PID/status in bytes: VmRSS, the resident
// memory, or VmHWM, its maximum. On other systems it returns 0.
func resident(pid int, name string) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	return parseStatus(string(data), name)
}

// parseStatus returns a figure in bytes from the text of /proc/PID/status.
func parseStatus(text, name string) int64 {
	_, after, _ := strings.Cut(text, name+":")
	line, _, _ := strings.Cut(after, "\n")
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
