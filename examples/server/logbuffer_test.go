package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writes notes each write of its own.
type writes struct {
	mu   sync.Mutex
	all  []string
	fail error
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(p))
	return len(p), w.fail
}

func TestLogLinesWaitATenthOfASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &writes{}
		b := newLogBuffer(out)
		_, err := fmt.Fprintln(b, "one")
		require.NoError(t, err)
		_, err = fmt.Fprintln(b, "two")
		require.NoError(t, err)
		assert.Empty(t, out.all)
		<-time.After(logDelay)
		synctest.Wait()
		assert.Equal(t, []string{"one\ntwo\n"}, out.all)
		<-time.After(logDelay)
		synctest.Wait()
		assert.Len(t, out.all, 1, "nothing is written where nothing waits")
		_, err = fmt.Fprintln(b, "three")
		require.NoError(t, err)
		require.NoError(t, b.Close())
		assert.Equal(t, []string{"one\ntwo\n", "three\n"}, out.all, "Close loses nothing")
	})
}

func TestLogLinesInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &writes{}
		b := newLogBuffer(out)
		line := bytes.Repeat([]byte("x"), 1<<10)
		for range logBytes / len(line) {
			_, err := b.Write(line)
			require.NoError(t, err)
		}
		assert.Len(t, out.all, 1)
		require.NoError(t, b.Close())
	})
}

func TestManyWritersLoseNoLine(t *testing.T) {
	out := &writes{}
	b := newLogBuffer(out)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				_, _ = fmt.Fprintln(b, "line")
			}
		})
	}
	wg.Wait()
	require.NoError(t, b.Close())
	assert.Equal(t, strings.Repeat("line\n", 8000), strings.Join(out.all, ""))
}

func TestAFailedLogIsReported(t *testing.T) {
	full := errors.New("disk full")
	b := newLogBuffer(&writes{fail: full})
	_, err := fmt.Fprintln(b, "line")
	require.NoError(t, err)
	require.ErrorIs(t, b.Close(), full)
}
