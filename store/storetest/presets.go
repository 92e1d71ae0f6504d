package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

// The workspaces of these tests.
const (
	presetHome  = "0190f5a0-0000-7000-8000-000000000001"
	presetOther = "0190f5a0-0000-7000-8000-000000000002"
)

// presetNow returns the time of minute n.
func presetNow(n int) time.Time {
	return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Minute)
}

// presetChange returns a record of a change to a preset.
func presetChange(action string) router.Change {
	return router.Change{
		ID: uuid.New(), At: presetNow(0), Account: "acme", Action: action, Kind: "preset", Object: "x",
		After: json.RawMessage(`{"slug":"p"}`),
	}
}

// addPreset adds a version at minute n.
func addPreset(ctx context.Context, s presets.Store, workspace, slug, config string, n int) (presets.Preset, error) {
	return addWithin(ctx, s, workspace, slug, config, n, presets.Bounds{})
}

// addWithin is addPreset with bounds.
func addWithin(ctx context.Context, s presets.Store, workspace, slug, config string, n int, b presets.Bounds) (presets.Preset, error) {
	return s.AddVersion(ctx, presets.Preset{
		ID: uuid.New(), Account: "acme", Workspace: workspace, Slug: slug, Name: slug, Status: presets.Active,
		Creator: "user_1", CreatedAt: presetNow(n), UpdatedAt: presetNow(n),
	}, presets.Version{
		ID: uuid.New(), Config: json.RawMessage(config), SystemPrompt: "Be brief.", Creator: "user_2", CreatedAt: presetNow(n),
	}, b, presetChange("create"))
}

func testPresets(t *testing.T, open Open) {
	t.Helper()
	if open(t).Presets == nil {
		t.Skip("no Presets")
	}
	for name, test := range map[string]func(*testing.T, store.Set){
		"the first version makes the preset":                    testFirstVersion,
		"a later version is designated":                         testLaterVersion,
		"a first version may be newer or older":                 testFirstVersionClock,
		"a later version changes nothing else":                  testLaterVersionAlone,
		"concurrent versions are numbered without gaps":         testPresetRivals,
		"a preset of another account or workspace is not found": testForeignPreset,
		"the status is set and moves UpdatedAt":                 testPresetStatus,
		"lists have the newest update first":                    testPresetList,
		"versions have the oldest first":                        testPresetVersions,
		"what is returned shares no memory":                     testPresetMemory,
		"a context that has ended changes nothing":              testPresetContext,
		"the change is stored with what was done":               testPresetAudit,
		"UpdatedAt does not go back when the clock does":        testPresetClock,
		"text is compared byte for byte":                        testPresetText,
		"values of the configuration keep all the digits":       testPresetDigits,
		"the oldest versions go and numbers go on":              testPresetPruning,
		"concurrent calls leave exactly the newest versions":    testPresetPruningRivals,
		"a workspace has a bounded number of presets":           testPresetBound,
		"concurrent calls do not pass the bound of a workspace": testPresetBoundRivals,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func testFirstVersion(t *testing.T, set store.Set) {
	t.Helper()
	p, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{"model":"m"}`, 1)
	require.NoError(t, err)
	assert.NotEqual(t, uuid.Nil, p.ID)
	assert.Equal(t, presets.Preset{
		ID: p.ID, Account: "acme", Workspace: presetHome, Slug: "p", Name: "p", Status: presets.Active, Creator: "user_1",
		CreatedAt: presetNow(1), UpdatedAt: presetNow(1),
		Designated: presets.Version{
			ID: p.Designated.ID, Preset: p.ID, Number: 1, Config: json.RawMessage(`{"model":"m"}`),
			SystemPrompt: "Be brief.", Creator: "user_2", CreatedAt: presetNow(1),
		},
	}, p)
	got, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, p, got)
}

func testFirstVersionClock(t *testing.T, set store.Set) {
	t.Helper()
	for slug, at := range map[string]int{"newer": 5, "older": 3} {
		p := presets.Preset{ID: uuid.New(), Account: "acme", Workspace: presetHome, Slug: slug, CreatedAt: presetNow(4), UpdatedAt: presetNow(4)}
		v := presets.Version{ID: uuid.New(), Config: json.RawMessage(`{}`), CreatedAt: presetNow(at)}
		got, err := set.Presets.AddVersion(t.Context(), p, v, presets.Bounds{}, presetChange("create"))
		require.NoError(t, err)
		assert.Equal(t, presetNow(4), got.CreatedAt)
		assert.Equal(t, presetNow(max(at, 4)), got.UpdatedAt)
		assert.Equal(t, presetNow(at), got.Designated.CreatedAt)
	}
}

// testLaterVersionAlone adds a version of a preset that exists, with other fields of the
// preset, which must not change.
func testLaterVersionAlone(t *testing.T, set store.Set) {
	t.Helper()
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{"seed":1}`, 1)
	require.NoError(t, err)
	want, err := set.Presets.SetStatus(t.Context(), "acme", presetHome, "p", presets.Disabled, presetNow(2), presetChange("update"))
	require.NoError(t, err)
	p := presets.Preset{
		ID: uuid.New(), Account: "acme", Workspace: presetHome, Slug: "p", Name: "other", Status: presets.Archived,
		StatusUpdatedAt: presetNow(9), Creator: "user_9", CreatedAt: presetNow(9), UpdatedAt: presetNow(9),
	}
	v := presets.Version{ID: uuid.New(), Preset: uuid.New(), Number: 7, Config: json.RawMessage(`{}`), CreatedAt: presetNow(3)}
	got, err := set.Presets.AddVersion(t.Context(), p, v, presets.Bounds{}, presetChange("create"))
	require.NoError(t, err)
	v.Preset, v.Number = want.ID, 2
	want.UpdatedAt, want.Designated = presetNow(3), v
	assert.Equal(t, want, got)
	got, err = set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func testLaterVersion(t *testing.T, set store.Set) {
	t.Helper()
	first, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{"seed":1}`, 1)
	require.NoError(t, err)
	second, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{"seed":2}`, 2)
	require.NoError(t, err)
	assert.Equal(t, first.ID, second.ID, "the preset stays the same")
	assert.Equal(t, first.CreatedAt, second.CreatedAt)
	assert.Equal(t, presetNow(2), second.UpdatedAt)
	assert.Equal(t, 2, second.Designated.Number)
	assert.Equal(t, first.ID, second.Designated.Preset)
	got, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, second, got)
	old, err := set.Presets.Version(t.Context(), "acme", presetHome, "p", 1)
	require.NoError(t, err)
	assert.Equal(t, first.Designated, old, "versions never change")
}

// testPresetRivals adds 64 versions at once. A store may refuse concurrent calls, which then
// try again, but no number may be skipped or given twice.
func testPresetRivals(t *testing.T, set store.Set) {
	t.Helper()
	const rivals = 64
	got, errs := make([]presets.Preset, rivals), make([]error, rivals)
	config := func(i int) string { return `{"seed":` + strconv.Itoa(i) + `}` }
	var wg sync.WaitGroup
	for i := range rivals {
		wg.Go(func() {
			got[i], errs[i] = addPreset(t.Context(), set.Presets, presetHome, "p", config(i), i)
			for errors.Is(errs[i], presets.ErrConflict) {
				got[i], errs[i] = addPreset(t.Context(), set.Presets, presetHome, "p", config(i), i)
			}
		})
	}
	wg.Wait()
	numbers := map[int]string{}
	for i, p := range got {
		require.NoError(t, errs[i])
		assert.JSONEq(t, config(i), string(p.Designated.Config), "each sees its own version designated")
		numbers[p.Designated.Number] = config(i)
	}
	require.Len(t, numbers, rivals)
	list, total, err := set.Presets.Versions(t.Context(), "acme", presetHome, "p", 0, rivals)
	require.NoError(t, err)
	require.Len(t, list, rivals)
	assert.Equal(t, rivals, total)
	for i, v := range list {
		assert.Equal(t, i+1, v.Number)
		assert.JSONEq(t, numbers[i+1], string(v.Config))
		assert.Equal(t, list[0].Preset, v.Preset)
	}
	p, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, list[rivals-1], p.Designated, "the last one accepted")
	assert.Equal(t, presetNow(rivals-1), p.UpdatedAt, "the latest of all")
}

func testForeignPreset(t *testing.T, set store.Set) {
	t.Helper()
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 1)
	require.NoError(t, err)
	for _, who := range [][3]string{{"other", presetHome, "p"}, {"acme", presetOther, "p"}, {"acme", presetHome, "q"}} {
		account, workspace, slug := who[0], who[1], who[2]
		_, err = set.Presets.Get(t.Context(), account, workspace, slug)
		require.ErrorIs(t, err, presets.ErrNotFound)
		_, err = set.Presets.Version(t.Context(), account, workspace, slug, 1)
		require.ErrorIs(t, err, presets.ErrNotFound)
		_, _, err = set.Presets.Versions(t.Context(), account, workspace, slug, 0, 10)
		require.ErrorIs(t, err, presets.ErrNotFound)
		_, err = set.Presets.SetStatus(t.Context(), account, workspace, slug, presets.Disabled, presetNow(2), presetChange("update"))
		require.ErrorIs(t, err, presets.ErrNotFound)
	}
	list, total, err := set.Presets.List(t.Context(), "other", presetHome, 0, 10)
	require.NoError(t, err)
	assert.Empty(t, list)
	assert.Zero(t, total)
	other, err := addPreset(t.Context(), set.Presets, presetOther, "p", `{}`, 2)
	require.NoError(t, err)
	assert.Equal(t, 1, other.Designated.Number, "the same slug in another workspace is another preset")
	p, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, presets.Active, p.Status)
	assert.NotEqual(t, other.ID, p.ID)
	for _, number := range []int{-1, 0, 2} {
		_, err = set.Presets.Version(t.Context(), "acme", presetHome, "p", number)
		require.ErrorIs(t, err, presets.ErrNotFound)
	}
}

func testPresetStatus(t *testing.T, set store.Set) {
	t.Helper()
	first, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 1)
	require.NoError(t, err)
	for n, status := range []presets.Status{presets.Disabled, presets.Archived, presets.Active} {
		want := first
		want.Status, want.StatusUpdatedAt, want.UpdatedAt = status, presetNow(n+2), presetNow(n+2)
		got, err := set.Presets.SetStatus(t.Context(), "acme", presetHome, "p", status, presetNow(n+2), presetChange("update"))
		require.NoError(t, err)
		assert.Equal(t, want, got)
		got, err = set.Presets.Get(t.Context(), "acme", presetHome, "p")
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}
