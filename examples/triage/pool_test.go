package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbered yields n items; a negative n is endless. It counts them in made.
func numbered(n int, made *atomic.Int64) iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := 0; i != n; i++ {
			made.Add(1)
			if !yield(item{id: strconv.Itoa(i)}) {
				return
			}
		}
	}
}

func TestOutcomesComeInTheOrderOfTheItemsFromBoundedWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, all = 4, 50
		var busy, most, made atomic.Int64
		work := func(_ context.Context, i item) outcome {
			most.Store(max(most.Load(), busy.Add(1)))
			k, _ := strconv.Atoi(i.id)
			wait := time.NewTimer(time.Duration(k*7%5) * time.Second) // they end in another order
			<-wait.C
			busy.Add(-1)
			return outcome{id: i.id}
		}
		next := int64(0)
		for o := range inOrder(t.Context(), n, numbered(all, &made), work) {
			assert.Equal(t, strconv.FormatInt(next, 10), o.id)
			next++
			assert.LessOrEqual(t, made.Load()-next, int64(2*n+1), "items wait outside of memory")
		}
		assert.EqualValues(t, all, next)
		assert.EqualValues(t, n, most.Load(), "all workers are used and no more")
	})
}

func TestWorkEndsWhenNobodyWantsMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine is left
		var made atomic.Int64
		work := func(_ context.Context, i item) outcome { return outcome{id: i.id} }
		for o := range inOrder(t.Context(), 3, numbered(-1, &made), work) {
			if o.id == "10" {
				break
			}
		}
		assert.LessOrEqual(t, made.Load(), int64(11+2*3+1))
	})
}

func TestAnInterruptEndsWorkAndDropsOnlyWhatWasAtWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var made atomic.Int64
		work := func(ctx context.Context, i item) outcome {
			if i.id == "5" {
				cancel()
			}
			return outcome{id: i.id, err: ctx.Err()}
		}
		var done []string
		for o := range inOrder(ctx, 1, numbered(-1, &made), work) {
			if o.err == nil {
				done = append(done, o.id)
			}
		}
		assert.Equal(t, []string{"0", "1", "2", "3", "4"}, done)
	})
}

func TestAReadThatWaitsForeverIsLeftWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	silent, write := io.Pipe()
	defer func() { assert.NoError(t, write.Close()) }()
	r := interruptible(ctx, func() (io.ReadCloser, error) { return silent, nil })
	go func() { // the pipe hands it over before it blocks
		_, err := io.WriteString(write, "hello")
		assert.NoError(t, err)
		cancel()
	}()
	got, err := io.ReadAll(r)
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, strings.HasPrefix("hello", string(got)))
}

func TestAnInterruptibleReaderPassesOnWhatItReads(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 3*sniffed/10)
	r := interruptible(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, text, string(got))

	gone := errors.New("gone")
	_, err = io.ReadAll(interruptible(t.Context(), func() (io.ReadCloser, error) { return nil, gone }))
	require.ErrorIs(t, err, gone)
}
