package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// besideBodies is how many bytes the process may use for everything except bodies
// and their copies.
const besideBodies = 128 << 20

// memoryLimit returns the soft limit of the runtime's memory, in bytes, for a bound of
// bodies. It is twice that bound for the bodies and their copies on the way upstream,
// a quarter of it for garbage, and besideBodies. Above the limit the collector runs
// more often; no request is refused.
func memoryLimit(bodies size) int64 { return int64(bodies)/4*9 + besideBodies }

// limitMemory sets the memory limit, unless the environment does, and returns a
// function that restores the old one.
func limitMemory(bodies size, getenv func(string) string) (restore func()) {
	if getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	former := debug.SetMemoryLimit(memoryLimit(bodies))
	return func() { debug.SetMemoryLimit(former) }
}

const (
	// tidyEvery is how often tidy looks at the memory.
	tidyEvery = 10 * time.Second
	// quietBytes is the most that a quiet process allocates between two looks, and the
	// least by which it must have grown before memory is returned.
	quietBytes = 64 << 20
)

// usage is what the runtime says about memory, in bytes.
type usage struct {
	allocated uint64 // since the start of the process
	kept      uint64 // taken from the operating system and not given back
}

// tidier returns memory to the operating system when a busy process becomes quiet.
// The runtime itself collects a heap that has stopped growing only after two minutes,
// and then keeps most of it.
type tidier struct {
	read    func() usage
	free    func()
	last    usage
	settled uint64 // the value of kept after memory was last returned
}

// look returns memory to the operating system if the process has grown and is quiet.
// It records how much remains, so that memory still in use does not trigger another
// collection.
func (t *tidier) look() {
	now := t.read()
	quiet := now.allocated-t.last.allocated < quietBytes
	if quiet && now.kept > t.settled+quietBytes {
		t.free()
		now = t.read()
		t.settled = now.kept
	}
	t.last = now
}

// tidy calls look every tidyEvery until ctx ends.
func tidy(ctx context.Context) {
	t := tidier{read: readUsage, free: debug.FreeOSMemory}
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.look()
		case <-ctx.Done():
			return
		}
	}
}

func readUsage() usage {
	s := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	return usage{allocated: s[0].Value.Uint64(), kept: s[1].Value.Uint64() - s[2].Value.Uint64()}
}
