package cache

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/panics"
)

// errExit is the error of a load that calls [runtime.Goexit].
var errExit = errors.New("cache: the load ended its goroutine")

// load is a call of Load under way.
type load[K comparable, V any] struct {
	done  chan struct{} // closed when entry is complete
	entry entry[K, V]
}

// join returns the load of a key that is under way, or begins one. A load that has
// ended since the caller looked counts as under way.
func (c *Cache[K, V]) join(ctx context.Context, key K) *load[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.loading[key]; l != nil {
		return l
	}
	l := &load[K, V]{done: make(chan struct{}), entry: entry[K, V]{key: key, err: errExit}}
	if e := c.held(key); e != nil && e.fresh(c.clock()) {
		l.entry = *e
		close(l.done)
		return l
	}
	c.loading[key] = l
	go c.run(context.WithoutCancel(ctx), l)
	return l
}

// run loads the value and keeps it, unless the key was forgotten meanwhile.
func (c *Cache[K, V]) run(ctx context.Context, l *load[K, V]) {
	defer c.end(l)
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	e := &l.entry
	e.err = panics.Catch(func() (err error) {
		e.read = c.clock()
		e.value, err = c.cfg.Load(ctx, e.key)
		return err
	})
}

func (c *Cache[K, V]) end(l *load[K, V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loading[l.entry.key] == l {
		delete(c.loading, l.entry.key)
		c.keep(&l.entry)
	}
	close(l.done)
}

// wait returns what the load returns, or the error of ctx.
func (l *load[K, V]) wait(ctx context.Context) (V, error) {
	select {
	case <-l.done:
		return l.entry.value, l.entry.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
