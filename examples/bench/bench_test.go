package main

import (
	"bufio"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// benchRole is the flag with which bench starts itself again; the test binary then runs
// bench.
const benchRole = "-role"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == benchRole {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheTableHasARowForEveryMeasurement(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-time", "30ms", "-rounds", "1"}, &out))
	row := func(name, conns string) string {
		return name + ` +` + conns + ` +\d+ +[\d.]+(µs|ms) +[\d.]+(µs|ms) +[\d.]+\n`
	}
	ratio := `(CPU per request: server / floor [\d.]+, server / proxy [\d.]+\n)?` // missing if the processes used less than one tick in 30 ms
	assert.Regexp(t, `^gateway +conns +req/s +p50 +p99 +CPU µs/req\n`+
		row("floor", "1")+row("proxy", "1")+row("server", "1")+ratio+
		row("floor", "32")+row("proxy", "32")+row("server", "32")+ratio+`$`, out.String())
}

func TestMemoryIsMeasuredWithSlowCalls(t *testing.T) {
	var out strings.Builder
	require.NoError(t, crowd(t.Context(), 4, time.Millisecond, &out))
	row := func(name string) string { return name + ` +4 +\d+ +\d+m?s +\d+m?s +\d+\n` }
	assert.Regexp(t, `^gateway +in flight +req/s +p50 +p99 +resident MiB\n`+
		row("floor")+row("proxy")+row("server")+`(resident: server / proxy [\d.]+\n)?$`, out.String())
}

func TestMemoryIsMeasuredWithLargeBodies(t *testing.T) {
	assert.Len(t, largeRequest(bodySize), bodySize)
	var out strings.Builder
	require.NoError(t, memory(t.Context(), 4, 0, &out))
	assert.Regexp(t, `^4 bodies of 4 MiB, 100 at once, in [\d.]+m?s: 4 answered, 0 refused for want of room\n`+
		`resident: \d+ MiB before, \d+ MiB at most, \d+ MiB after 0s\n$`, out.String())

	status := "Name:\tserver\nVmHWM:\t  731988 kB\nVmRSS:\t   24012 kB\nThreads:\t7\n"
	assert.EqualValues(t, 731988<<10, parseStatus(status, "VmHWM"))
	assert.EqualValues(t, 24012<<10, parseStatus(status, "VmRSS"))
	assert.Zero(t, parseStatus(status, "VmSwap"))
	assert.Zero(t, resident(-1, "VmRSS"), "no such process")
}

func TestBadArgumentsMeasureNothing(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-time", "0s"}, {"-time", "-1s"}, {"-bodies", "-1"}, {"-slow", "-1"}, {"-role", "other"}, {"more"}, {"-x"}, {"-rounds", "x"}} {
		var out strings.Builder
		err := run(t.Context(), args, &out)
		require.ErrorContains(t, err, "bad arguments")
		assert.NotContains(t, err.Error(), "\n", "one line")
		assert.Equal(t, exitUsage, status(err))
		assert.Empty(t, out.String())
	}
}

func TestOnlyAFailureIsAFailure(t *testing.T) {
	var out strings.Builder
	assert.Equal(t, exitDone, status(run(t.Context(), []string{"-h"}, &out)))
	assert.Contains(t, out.String(), "-rounds")
	assert.Equal(t, exitDone, status(nil))
	assert.Equal(t, exitFailed, status(errors.New("no server")))
}

func TestCPUTimeIsUserAndSystemTicks(t *testing.T) {
	for name, c := range map[string]struct {
		stat string
		want time.Duration
	}{
		"plain":         {"7 (server) S 1 7 7 0 -1 4194560 100 0 0 0 123 45 9 9 20 0", 1680 * time.Millisecond},
		"spaces inside": {"7 (a server) S 1 7 7 0 -1 4194560 100 0 0 0 2 1 9 9 20 0", 30 * time.Millisecond},
		"brackets":      {"7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 2 1 9 9 20 0", 30 * time.Millisecond},
		"too short":     {"7 (server) S 1 7 7", 0},
		"no name":       {"7 server S 1 7 7 0 -1 4194560 100 0 0 0 123 45", 0},
		"not a number":  {"7 (server) S 1 7 7 0 -1 4194560 100 0 0 0 x 45 9", 0},
		"empty":         {"", 0},
	} {
		assert.Equal(t, c.want, parseStat(c.stat), name)
	}
	assert.Zero(t, cpuTime(-1), "no such process")
	if runtime.GOOS == "linux" {
		for end := time.Now().Add(5 * time.Second); cpuTime(os.Getpid()) == 0; {
			require.True(t, time.Now().Before(end), "a busy process uses time")
		}
	}
}

func TestMedianIsOfEachFigureByItself(t *testing.T) {
	got := median([]result{
		{rate: 3, p50: 1, p99: 20, cpu: 0.5},
		{rate: 1, p50: 3, p99: 30, cpu: 1.5},
		{rate: 2, p50: 2, p99: 10, cpu: 1},
	})
	assert.Equal(t, result{rate: 2, p50: 2, p99: 20, cpu: 1}, got)
	one := result{rate: 7, p50: 8, p99: 9, cpu: 10}
	assert.Equal(t, one, median([]result{one}))
}

func TestARefusalEndsTheMeasurement(t *testing.T) {
	read := func(text string) (*bufio.Reader, error) {
		r := bufio.NewReader(strings.NewReader(text))
		return r, readReply(r)
	}
	_, err := read("HTTP/1.1 401 Unauthorized\r\nContent-Length: 6\r\n\r\nno key")
	require.EqualError(t, err, "401 Unauthorized: no key")
	_, err = read("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ncut")
	require.Error(t, err)
	_, err = read("SSH-2.0\r\n")
	require.Error(t, err)
	rest, err := read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP")
	require.NoError(t, err)
	next, err := rest.ReadString('P')
	require.NoError(t, err)
	assert.Equal(t, "HTTP", next, "the next reply begins where this one ends")
}
