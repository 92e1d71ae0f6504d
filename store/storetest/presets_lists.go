package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/store"
)

func testPresetList(t *testing.T, set store.Set) {
	t.Helper()
	for n, slug := range []string{"a", "b", "c", "a", "d", "e"} { // a is updated after c; d and e are later still
		_, err := addPreset(t.Context(), set.Presets, presetHome, slug, `{}`, min(n, 4))
		require.NoError(t, err)
	}
	_, err := addPreset(t.Context(), set.Presets, presetOther, "f", `{}`, 9)
	require.NoError(t, err)
	all, total, err := set.Presets.List(t.Context(), "acme", presetHome, 0, 100)
	require.NoError(t, err)
	assert.Equal(t, 5, total)
	require.Len(t, all, 5)
	var slugs []string
	for _, p := range all {
		slugs = append(slugs, p.Slug)
		got, err := set.Presets.Get(t.Context(), "acme", presetHome, p.Slug)
		require.NoError(t, err)
		assert.Equal(t, got, p)
	}
	assert.ElementsMatch(t, []string{"d", "e"}, slugs[:2])
	assert.Greater(t, all[0].ID.String(), all[1].ID.String(), "of equal updates the greatest id is first")
	assert.Equal(t, []string{"a", "c", "b"}, slugs[2:])
	for offset := range 7 {
		for limit := range 7 {
			part, total, err := set.Presets.List(t.Context(), "acme", presetHome, offset, limit)
			require.NoError(t, err)
			assert.Equal(t, 5, total)
			assert.NotNil(t, part)
			from := min(offset, 5)
			assert.Equal(t, all[from:min(from+limit, 5)], part)
		}
	}
}

func testPresetVersions(t *testing.T, set store.Set) {
	t.Helper()
	for n := range 5 {
		_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, n)
		require.NoError(t, err)
	}
	for offset := range 7 {
		for limit := range 7 {
			part, total, err := set.Presets.Versions(t.Context(), "acme", presetHome, "p", offset, limit)
			require.NoError(t, err)
			assert.Equal(t, 5, total)
			require.Len(t, part, max(min(limit, 5-offset), 0))
			for i, v := range part {
				assert.Equal(t, offset+i+1, v.Number)
				one, err := set.Presets.Version(t.Context(), "acme", presetHome, "p", v.Number)
				require.NoError(t, err)
				assert.Equal(t, v, one)
			}
		}
	}
}

func testPresetMemory(t *testing.T, set store.Set) {
	t.Helper()
	const config = `{"seed":1}`
	p, err := addPreset(t.Context(), set.Presets, presetHome, "p", config, 1)
	require.NoError(t, err)
	p.Designated.Config[2] = 'X'
	p, err = set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	require.JSONEq(t, config, string(p.Designated.Config))
	p.Designated.Config[2] = 'X'
	v, err := set.Presets.Version(t.Context(), "acme", presetHome, "p", 1)
	require.NoError(t, err)
	require.JSONEq(t, config, string(v.Config))
	v.Config[2] = 'X'
	list, _, err := set.Presets.Versions(t.Context(), "acme", presetHome, "p", 0, 1)
	require.NoError(t, err)
	require.JSONEq(t, config, string(list[0].Config))
	list[0].Config[2] = 'X'
	all, _, err := set.Presets.List(t.Context(), "acme", presetHome, 0, 1)
	require.NoError(t, err)
	assert.JSONEq(t, config, string(all[0].Designated.Config))
}

func testPresetContext(t *testing.T, set store.Set) {
	t.Helper()
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 1)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = addPreset(ctx, set.Presets, presetHome, "p", `{}`, 2)
	require.ErrorIs(t, err, context.Canceled)
	_, err = set.Presets.SetStatus(ctx, "acme", presetHome, "p", presets.Disabled, presetNow(2), presetChange("update"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = set.Presets.Get(ctx, "acme", presetHome, "p")
	require.ErrorIs(t, err, context.Canceled)
	_, err = set.Presets.Version(ctx, "acme", presetHome, "p", 1)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = set.Presets.List(ctx, "acme", presetHome, 0, 1)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = set.Presets.Versions(ctx, "acme", presetHome, "p", 0, 1)
	require.ErrorIs(t, err, context.Canceled)
	p, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	assert.Equal(t, 1, p.Designated.Number)
	assert.Equal(t, presets.Active, p.Status)
}

func testPresetAudit(t *testing.T, set store.Set) {
	t.Helper()
	if set.Audit == nil {
		t.Skip("no Audit")
	}
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 1)
	require.NoError(t, err)
	change := presetChange("update")
	_, err = set.Presets.SetStatus(t.Context(), "acme", presetHome, "p", presets.Disabled, presetNow(2), change)
	require.NoError(t, err)
	_, err = set.Presets.SetStatus(t.Context(), "acme", presetHome, "q", presets.Disabled, presetNow(2), presetChange("update"))
	require.ErrorIs(t, err, presets.ErrNotFound)
	list, total, err := set.Audit.Changes(t.Context(), "acme", 0, 10)
	require.NoError(t, err)
	assert.Equal(t, 2, total, "what was not done is not recorded")
	require.Len(t, list, 2)
	assert.Equal(t, change, list[0])
	assert.Equal(t, "create", list[1].Action)
}

func testPresetClock(t *testing.T, set store.Set) {
	t.Helper()
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 5)
	require.NoError(t, err)
	p, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 3)
	require.NoError(t, err)
	assert.Equal(t, presetNow(5), p.UpdatedAt)
	assert.Equal(t, presetNow(3), p.Designated.CreatedAt)
	p, err = set.Presets.SetStatus(t.Context(), "acme", presetHome, "p", presets.Disabled, presetNow(4), presetChange("update"))
	require.NoError(t, err)
	assert.Equal(t, presetNow(5), p.UpdatedAt)
	assert.Equal(t, presetNow(4), p.StatusUpdatedAt)
}

func testPresetText(t *testing.T, set store.Set) {
	t.Helper()
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", `{}`, 1)
	require.NoError(t, err)
	_, err = set.Presets.Get(t.Context(), "acme", presetHome, "P")
	require.ErrorIs(t, err, presets.ErrNotFound)
	p, err := addPreset(t.Context(), set.Presets, presetHome, "P", `{}`, 1)
	require.NoError(t, err)
	assert.Equal(t, 1, p.Designated.Number)
}

func testPresetDigits(t *testing.T, set store.Set) {
	t.Helper()
	const config = `{"temperature":0.70,"logit_bias":{"1":1E+2},"seed":12345678901234567890}`
	_, err := addPreset(t.Context(), set.Presets, presetHome, "p", config, 1)
	require.NoError(t, err)
	p, err := set.Presets.Get(t.Context(), "acme", presetHome, "p")
	require.NoError(t, err)
	for _, digits := range []string{"0.70", "1E+2", "12345678901234567890"} {
		assert.Contains(t, string(p.Designated.Config), digits)
	}
}
