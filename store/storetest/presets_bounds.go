package storetest

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/store"
)

// keptVersions requires that the preset p has exactly the versions from first to last, by
// every method.
func keptVersions(t *testing.T, s presets.Store, first, last int) {
	t.Helper()
	const slug = "p"
	list, total, err := s.Versions(t.Context(), "acme", presetHome, slug, 0, 1000)
	require.NoError(t, err)
	require.Len(t, list, last-first+1)
	assert.Len(t, list, total)
	for i, v := range list {
		assert.Equal(t, first+i, v.Number)
		one, err := s.Version(t.Context(), "acme", presetHome, slug, v.Number)
		require.NoError(t, err)
		assert.Equal(t, v, one)
		part, total, err := s.Versions(t.Context(), "acme", presetHome, slug, i, 1)
		require.NoError(t, err)
		assert.Equal(t, []presets.Version{v}, part, "offsets count from the oldest that is left")
		assert.Len(t, list, total)
	}
	for _, number := range []int{0, first - 1, last + 1} {
		_, err := s.Version(t.Context(), "acme", presetHome, slug, number)
		require.ErrorIs(t, err, presets.ErrNotFound, number)
	}
	p, err := s.Get(t.Context(), "acme", presetHome, slug)
	require.NoError(t, err)
	assert.Equal(t, list[len(list)-1], p.Designated)
}

func testPresetPruning(t *testing.T, set store.Set) {
	t.Helper()
	s, n := set.Presets, 0
	add := func(times, keep int) {
		t.Helper()
		for range times {
			n++
			p, err := addWithin(t.Context(), s, presetHome, "p", `{"seed":`+strconv.Itoa(n)+`}`, n, presets.Bounds{Versions: keep})
			require.NoError(t, err)
			assert.Equal(t, n, p.Designated.Number)
			assert.JSONEq(t, `{"seed":`+strconv.Itoa(n)+`}`, string(p.Designated.Config))
		}
	}
	add(3, 3)
	keptVersions(t, s, 1, 3)
	add(1, 3)
	keptVersions(t, s, 2, 4)
	add(5, 0)
	keptVersions(t, s, 2, 9)
	add(1, 4) // a smaller bound: all but four are dropped at once
	keptVersions(t, s, 7, 10)
	add(2, 1)
	keptVersions(t, s, 12, 12)
	add(1, 3)
	keptVersions(t, s, 12, 13)

	other, err := addWithin(t.Context(), s, presetHome, "q", `{}`, 1, presets.Bounds{Versions: 1})
	require.NoError(t, err)
	assert.Equal(t, 1, other.Designated.Number)
	keptVersions(t, s, 12, 13)
	_, err = s.SetStatus(t.Context(), "acme", presetHome, "p", presets.Disabled, presetNow(20), presetChange("update"))
	require.NoError(t, err)
	keptVersions(t, s, 12, 13)
}

// testPresetPruningRivals adds 64 versions at once, of which 5 stay, while readers read. No
// reader may see a preset without its version in force, or a gap in the numbers.
func testPresetPruningRivals(t *testing.T, set store.Set) {
	t.Helper()
	const rivals, keep = 64, 5
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 0)
	require.NoError(t, err)
	var writers, readers sync.WaitGroup
	var mu sync.Mutex
	numbers, done := map[int]bool{}, make(chan struct{})
	for i := range rivals {
		writers.Go(func() {
			p, err := addWithin(t.Context(), set.Presets, presetHome, "p", `{}`, i, presets.Bounds{Versions: keep})
			for errors.Is(err, presets.ErrConflict) {
				p, err = addWithin(t.Context(), set.Presets, presetHome, "p", `{}`, i, presets.Bounds{Versions: keep})
			}
			mu.Lock()
			numbers[p.Designated.Number] = true
			mu.Unlock()
			assert.NoError(t, err)
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				_, missing := set.Presets.Get(t.Context(), "acme", presetHome, "p")
				list, total, err := set.Presets.Versions(t.Context(), "acme", presetHome, "p", 0, 100)
				assert.LessOrEqual(t, total, keep)
				if assert.Len(t, list, total) {
					for i, v := range list {
						assert.Equal(t, list[0].Number+i, v.Number)
					}
				}
				assert.NoError(t, errors.Join(missing, err))
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	assert.Len(t, numbers, rivals, "each has a number of its own")
	keptVersions(t, set.Presets, rivals+1-keep+1, rivals+1)
}

func testPresetBound(t *testing.T, set store.Set) {
	t.Helper()
	b := presets.Bounds{Presets: 2}
	for n, slug := range []string{"a", "b", "a"} {
		_, err := addWithin(t.Context(), set.Presets, presetHome, slug, `{}`, n, b)
		require.NoError(t, err)
	}
	_, err := addWithin(t.Context(), set.Presets, presetHome, "c", `{}`, 3, b)
	require.ErrorIs(t, err, presets.ErrFull)
	_, err = set.Presets.Get(t.Context(), "acme", presetHome, "c")
	require.ErrorIs(t, err, presets.ErrNotFound)
	_, total, err := set.Presets.List(t.Context(), "acme", presetHome, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	if set.Audit != nil {
		_, total, err := set.Audit.Changes(t.Context(), "acme", 0, 10)
		require.NoError(t, err)
		assert.Equal(t, 3, total, "what was refused is not recorded")
	}
	p, err := addWithin(t.Context(), set.Presets, presetHome, "b", `{}`, 4, b)
	require.NoError(t, err, "another version of one that is there")
	assert.Equal(t, 2, p.Designated.Number)
	_, err = addWithin(t.Context(), set.Presets, presetOther, "c", `{}`, 5, b)
	require.NoError(t, err, "another workspace")
	_, err = addPreset(t.Context(), set.Presets, presetHome, "c", `{}`, 6)
	require.NoError(t, err, "without a bound")
}

// testPresetBoundRivals creates 32 presets at once in a new workspace with room for 5.
func testPresetBoundRivals(t *testing.T, set store.Set) {
	t.Helper()
	const rivals, room = 32, 5
	var wg sync.WaitGroup
	errs := make([]error, rivals)
	for i := range rivals {
		wg.Go(func() {
			add := func() {
				_, errs[i] = addWithin(t.Context(), set.Presets, presetHome, "p"+strconv.Itoa(i), `{}`, i, presets.Bounds{Presets: room})
			}
			for add(); errors.Is(errs[i], presets.ErrConflict); {
				add()
			}
		})
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, presets.ErrFull)
	}
	assert.Equal(t, room, made)
	_, total, err := set.Presets.List(t.Context(), "acme", presetHome, 0, 100)
	require.NoError(t, err)
	assert.Equal(t, room, total)
}
