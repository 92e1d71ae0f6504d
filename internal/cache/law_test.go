package cache_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/cache"
)

// model is a store whose every write gives a key a number that no key had
// before, and a record of when each number was replaced.
type model struct {
	rt    *rapid.T
	cache *cache.Cache[string, int]
	began chan struct{} // of a load that is held

	mu      sync.Mutex // of what loads and the clock read
	now     time.Time
	current map[string]int
	hold    chan struct{} // loads wait for it after they have read; nil: they do not

	last    int
	ended   map[int]time.Time // when a number was replaced
	changed map[string]int    // the number of a key when a change of it last returned
	loading map[string]bool   // a load is held and was not forgotten
	waiting sync.WaitGroup
}

var modelKeys = []string{"a/1", "a/2", "b/1"}

func newModel(rt *rapid.T) *model {
	m := &model{
		rt: rt, began: make(chan struct{}), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		current: map[string]int{}, ended: map[int]time.Time{}, changed: map[string]int{}, loading: map[string]bool{},
	}
	m.cache = cache.New(cache.Config[string, int]{
		Load: m.load, TTL: ttl, Max: rapid.SampledFrom([]int{1, 2, 100}).Draw(rt, "max"),
		Missing: errMissing, MissingTTL: ttl, Now: func() time.Time { m.mu.Lock(); defer m.mu.Unlock(); return m.now },
	})
	return m
}

// load answers with the key's number, which may be another one by then if loads
// are held.
func (m *model) load(_ context.Context, key string) (int, error) {
	m.mu.Lock()
	n, hold := m.current[key], m.hold
	m.mu.Unlock()
	if hold != nil {
		m.began <- struct{}{}
		<-hold
	}
	if n%3 == 1 { // as if the key had been deleted
		return n, errMissing
	}
	return n, nil
}

func (m *model) key() string { return rapid.SampledFrom(modelKeys).Draw(m.rt, "key") }

// write changes a key in the store alone, as another process does.
func (m *model) write(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[m.current[key]] = m.now
	m.last++
	m.current[key] = m.last
}

// get checks what it gets, unless that is a load that is held.
func (m *model) get(key string) {
	if m.loading[key] {
		return
	}
	got := make(chan int, 1)
	m.waiting.Go(func() {
		n, _ := m.cache.Get(context.Background(), key)
		got <- n
	})
	select {
	case n := <-got:
		m.check(key, n)
	case <-m.began:
		m.loading[key] = true
	}
}

// check fails if a number was replaced the TTL ago, or by a change that returned.
func (m *model) check(key string, n int) {
	if n < m.changed[key] {
		m.rt.Fatalf("%s: got %d, which a change replaced by %d", key, n, m.changed[key])
	}
	if ended, over := m.ended[n]; over && !ended.After(m.now.Add(-ttl)) && n > 0 {
		m.rt.Fatalf("%s: got %d, which was replaced %v ago", key, n, m.now.Sub(ended))
	}
}

// change writes the keys of which match is true, and has them forgotten.
func (m *model) change(match func(key string) bool, forget func()) {
	for _, key := range modelKeys {
		if match(key) {
			m.write(key)
		}
	}
	forget()
	for _, key := range modelKeys {
		if match(key) {
			m.changed[key], m.loading[key] = m.current[key], false
		}
	}
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"get":   func(*rapid.T) { m.get(m.key()) },
		"write": func(*rapid.T) { m.write(m.key()) },
		"change": func(*rapid.T) {
			changed := m.key()
			m.change(func(key string) bool { return key == changed }, func() { m.cache.Forget(changed) })
		},
		"change account": func(*rapid.T) {
			match := func(key string) bool { return strings.HasPrefix(key, "a/") }
			m.change(match, func() { m.cache.ForgetFunc(match) })
		},
		"pass time": func(rt *rapid.T) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, int(ttl)).Draw(rt, "time")))
		},
		"hold loads": func(*rapid.T) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.hold == nil {
				m.hold = make(chan struct{})
			}
		},
		"release loads": func(*rapid.T) { m.release() },
	}
}

// release lets all loads end that are held.
func (m *model) release() {
	m.mu.Lock()
	if m.hold != nil {
		close(m.hold)
		m.hold = nil
	}
	m.mu.Unlock()
	m.waiting.Wait()
	clear(m.loading)
}

// TestNoValueIsOlderThanItsTTLOrThanAChange is the law of the package, for any
// order of reads, changes, other processes' writes and loads that take long.
func TestNoValueIsOlderThanItsTTLOrThanAChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(rt)
		defer m.release()
		rt.Repeat(m.actions())
	})
}

// TestRivalsSeeNothingFromBeforeAChange is the same with real rivals.
func TestRivalsSeeNothingFromBeforeAChange(t *testing.T) {
	var stored, changed [4]atomic.Int64
	c := cache.New(cache.Config[int, int64]{
		Load: func(_ context.Context, key int) (int64, error) { return stored[key].Load(), nil }, TTL: time.Hour, Max: 3,
	})
	var all sync.WaitGroup
	for key := range stored {
		all.Go(func() {
			for range 2000 {
				n := stored[key].Add(1)
				if n%2 == 0 {
					c.Forget(key)
				} else {
					c.ForgetFunc(func(k int) bool { return k == key })
				}
				changed[key].Store(n)
			}
		})
		for range 2 {
			all.Go(func() {
				for range 2000 {
					oldest := changed[key].Load()
					got, err := c.Get(t.Context(), key)
					if err != nil || got < oldest {
						t.Errorf("got %d, %v, after a change to %d", got, err, oldest)
					}
				}
			})
		}
	}
	all.Wait()
}
