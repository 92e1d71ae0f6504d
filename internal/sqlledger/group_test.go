package sqlledger

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gate is a group whose batches end when the test says so.
type gate struct {
	group

	t       *testing.T
	batches [][]*operation
	open    chan error // what the next batch ends with
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{t: t, open: make(chan error)}
	g.run = func(batch []*operation) {
		g.batches = append(g.batches, batch)
		err := <-g.open
		for _, o := range batch {
			o.err = err
		}
	}
	return g
}

// call starts a call, waits until it blocks, and returns its operation and the channel
// of its error.
func (g *gate) call(ctx context.Context) (*operation, chan error) {
	o, ended := &operation{}, make(chan error, 1)
	go func() { ended <- g.submit(ctx, o) }()
	synctest.Wait()
	return o, ended
}

// end lets the running batch end with err.
func (g *gate) end(err error) {
	g.open <- err
	synctest.Wait()
}

// idle requires that no caller leads or waits.
func (g *gate) idle() {
	g.t.Helper()
	assert.Zero(g.t, g.leaders)
	assert.Empty(g.t, g.waiting)
}

func TestGroupHandsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		first, ended := g.call(t.Context())
		second, ended2 := g.call(t.Context())
		third, ended3 := g.call(t.Context())
		require.Equal(t, [][]*operation{{first}}, g.batches, "one batch at a time")
		torn := errors.New("torn")
		g.end(torn)
		require.ErrorIs(t, <-ended, torn)
		require.Equal(t, [][]*operation{{first}, {second, third}}, g.batches, "those who came meanwhile share the next")
		g.end(torn)
		require.ErrorIs(t, <-ended2, torn, "what failed the batch")
		require.ErrorIs(t, <-ended3, torn, "is told to each")
		g.idle()
		_, ended = g.call(t.Context())
		g.end(nil)
		require.NoError(t, <-ended, "whoever comes next leads again")
		g.idle()
	})
}

func TestGroupBoundsItsBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		var calls sync.WaitGroup
		for range 2*maxBatch + 2 {
			calls.Go(func() { assert.NoError(t, g.submit(t.Context(), &operation{})) })
		}
		synctest.Wait()
		for range 4 {
			g.end(nil)
		}
		calls.Wait()
		sizes := []int{}
		for _, batch := range g.batches {
			sizes = append(sizes, len(batch))
		}
		assert.Equal(t, []int{1, maxBatch, maxBatch, 1}, sizes)
		g.idle()
	})
}

func TestGroupLetsCallersGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		leaves, leave := context.WithCancel(t.Context())
		first, ended := g.call(leaves)
		_, ended2 := g.call(leaves)
		third, ended3 := g.call(t.Context())
		_, ended4 := g.call(leaves)
		leave()
		synctest.Wait()
		require.ErrorIs(t, <-ended2, context.Canceled)
		require.ErrorIs(t, <-ended4, context.Canceled)
		assert.Empty(t, ended, "who is in a batch waits for its outcome")
		g.end(nil)
		require.NoError(t, <-ended)
		g.end(nil)
		require.NoError(t, <-ended3)
		assert.Equal(t, [][]*operation{{first}, {third}}, g.batches, "who left in time is in none")
		require.ErrorIs(t, g.submit(leaves, &operation{}), context.Canceled)
		g.idle()
	})
}

// A caller whose operation is in a running batch waits for it after its context ends.
func TestGroupFollowerGivesUpInABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		_, ended := g.call(t.Context())
		_, ended2 := g.call(t.Context())
		leaves, leave := context.WithCancel(t.Context())
		_, ended3 := g.call(leaves)
		g.end(nil)
		require.NoError(t, <-ended)
		leave()
		synctest.Wait()
		assert.Empty(t, ended3)
		g.end(nil)
		require.NoError(t, <-ended2)
		require.NoError(t, <-ended3, "it happened, and that is what is told")
		g.idle()
	})
}

// A caller whose context ends after it became the leader still runs the batch, because
// it holds operations of other callers.
func TestGroupAskedToLeadGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		_, ended := g.call(t.Context())
		leaves, leave := context.WithCancel(t.Context())
		second, ended2 := g.call(leaves)
		third, ended3 := g.call(t.Context())
		g.mu.Lock()
		leave() // and before it could withdraw,
		g.handOver()
		g.leaders++
		g.mu.Unlock()
		synctest.Wait()
		assert.Equal(t, []*operation{second, third}, g.batches[1])
		for range 2 {
			g.end(nil)
		}
		for _, ended := range []chan error{ended, ended2, ended3} {
			require.NoError(t, <-ended)
		}
		g.idle()
	})
}

// Two batches run at once if the width allows it and enough operations wait; never
// three.
func TestGroupOfTwo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		g.width = 2
		var calls sync.WaitGroup
		sizes := func(more int) (sizes []int) {
			for range more {
				calls.Go(func() { assert.NoError(t, g.submit(t.Context(), &operation{})) })
			}
			synctest.Wait()
			for _, batch := range g.batches {
				sizes = append(sizes, len(batch))
			}
			return sizes
		}
		assert.Equal(t, []int{1}, sizes(1))
		assert.Equal(t, []int{1}, sizes(minBatch-1), "the next batch will take them")
		assert.Equal(t, []int{1, minBatch}, sizes(1))
		assert.Equal(t, []int{1, minBatch}, sizes(maxBatch+minBatch))
		g.end(nil)
		assert.Equal(t, []int{1, minBatch, maxBatch}, sizes(0))
		g.end(nil)
		assert.Equal(t, []int{1, minBatch, maxBatch, minBatch}, sizes(0))
		assert.Equal(t, []int{1, minBatch, maxBatch, minBatch}, sizes(3))
		g.end(nil)
		assert.Equal(t, []int{1, minBatch, maxBatch, minBatch}, sizes(0), "they wait for the other one")
		g.end(nil)
		assert.Equal(t, []int{1, minBatch, maxBatch, minBatch, 3}, sizes(0))
		g.end(nil)
		calls.Wait()
		g.idle()
	})
}

// A panic reaches its own caller. The other callers of the batch get an error.
func TestGroupSurvivesAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t)
		orderly := g.run
		_, ended := g.call(t.Context())
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_ = g.submit(t.Context(), &operation{})
		}()
		synctest.Wait()
		_, ended3 := g.call(t.Context())
		g.run = func(batch []*operation) {
			batch[0].err, batch[1].err = nil, nil // as if all had gone well so far
			panic("broken")
		}
		g.end(nil)
		require.NoError(t, <-ended)
		assert.Equal(t, "broken", <-panicked)
		require.ErrorIs(t, <-ended3, errBroken)
		g.run = orderly
		g.idle()
		_, ended = g.call(t.Context())
		g.end(nil)
		require.NoError(t, <-ended)
	})
}

// Under many concurrent callers each gets the result of its own operation, and none is
// left waiting.
func TestGroupUnderStress(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2} {
		var mu sync.Mutex
		running, ran, told := 0, map[*operation]int{}, map[*operation]error{}
		g := group{width: width}
		g.run = func(batch []*operation) {
			mu.Lock()
			running++
			assert.LessOrEqual(t, running, width)
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			defer mu.Unlock()
			running--
			for _, o := range batch {
				ran[o]++
			}
		}
		var callers sync.WaitGroup
		for caller := range 3 * maxBatch {
			draw := rand.New(rand.NewPCG(uint64(caller), 1))
			callers.Go(func() {
				for range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					if draw.IntN(2) == 0 {
						time.AfterFunc(time.Duration(draw.IntN(50))*time.Microsecond, cancel)
					}
					o := &operation{}
					err := g.submit(ctx, o)
					cancel()
					mu.Lock()
					told[o] = err
					mu.Unlock()
				}
			})
		}
		callers.Wait()
		for o, err := range told {
			want := 1
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				want = 0
			}
			require.Equal(t, want, ran[o])
		}
		assert.Zero(t, g.leaders)
		assert.Empty(t, g.waiting)
	}
}
