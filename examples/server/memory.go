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

// memoryLimit is the soft limit of the runtime's memory when bodies may hold so
// many bytes: twice that for the bodies and their copies on the way upstream, a
// quarter for garbage that is not collected yet, and besideBodies. Above it the
// collector runs more often; it refuses nothing.
func memoryLimit(bodies size) int64 { return int64(bodies)/4*9 + besideBodies }

// limitMemory sets the limit unless the environment does, and returns a function
// that restores the former one.
func limitMemory(bodies size, getenv func(string) string) (restore func()) {
	if getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	former := debug.SetMemoryLimit(memoryLimit(bodies))
	return func() { debug.SetMemoryLimit(former) }
}

const (
	// tidyEvery is how often the memory is looked at.
	tidyEvery = 10 * time.Second
	// quietBytes is how much may be allocated from one look to the next in a quiet
	// process, and how much it must have grown for the look to matter.
	quietBytes = 64 << 20
)

// usage is what the runtime says about memory, in bytes.
type usage struct {
	allocated uint64 // since the start of the process
	kept      uint64 // taken from the operating system and not given back
}

// tidier returns memory to the operating system when the process is quiet after
// it was busy. By itself the runtime collects a heap that has stopped growing
// only after two minutes, and then keeps most of it.
type tidier struct {
	read    func() usage
	free    func()
	last    usage
	settled uint64 // what was kept when memory was returned last
}

// look returns memory to the operating system if the process has grown and is
// quiet. It notes how much remains, so that memory in use does not cause another
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

// tidy looks until ctx ends.
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
