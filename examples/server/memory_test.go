package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryIsReturnedInQuietOnly(t *testing.T) {
	const mib = 1 << 20
	var now usage
	freed, live := 0, uint64(20*mib)
	tid := tidier{read: func() usage { return now }, free: func() { freed++; now.kept = live }}
	look := func(allocated, kept uint64) int {
		t.Helper()
		now = usage{now.allocated + allocated*mib, kept * mib}
		before := freed
		tid.look()
		return freed - before
	}
	assert.Zero(t, look(10, 30), "little to return")
	assert.Zero(t, look(4000, 900), "busy")
	assert.Zero(t, look(64, 900), "still busy")
	assert.Equal(t, 1, look(1, 900))
	assert.Zero(t, look(1, 20))
	assert.Zero(t, look(1, 84), "a little of it came back")
	live = 500 * mib
	assert.Equal(t, 1, look(1, 600))
	for range 5 {
		assert.Zero(t, look(1, 500), "what is in use stays")
	}
	assert.Equal(t, 1, look(1, 565))
}

func TestUsageIsRead(t *testing.T) {
	before := readUsage()
	held := make([]byte, 96<<20)
	for i := range held {
		held[i] = 1
	}
	after := readUsage()
	assert.GreaterOrEqual(t, after.allocated-before.allocated, uint64(len(held)))
	assert.GreaterOrEqual(t, after.kept, uint64(len(held)))
}

func TestTheMemoryLimitFollowsFromTheBodies(t *testing.T) {
	const bound = 256 << 20
	assert.EqualValues(t, 704<<20, memoryLimit(bound))
	assert.Less(t, memoryLimit(bound), int64(bound)/2*5+200_000_000-100<<20, "with room for the program itself")
	assert.Positive(t, memoryLimit(maxSize))

	former := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(former)
	restore := limitMemory(bound, func(string) string { return "" })
	assert.Equal(t, memoryLimit(bound), debug.SetMemoryLimit(-1))
	restore()
	require.Equal(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1))
	limitMemory(bound, func(name string) string { return map[string]string{"GOMEMLIMIT": "1GiB"}[name] })()
	assert.Equal(t, int64(math.MaxInt64), debug.SetMemoryLimit(-1), "the environment wins")
}
