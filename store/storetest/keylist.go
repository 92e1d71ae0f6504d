package storetest

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/keys"
)

func hashesOf(list []keys.Key) []string {
	found := []string{}
	for _, k := range list {
		found = append(found, k.Hash)
	}
	return found
}

func keyList(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for i := range 10 { // two of each instant
		k := keys.Key{Hash: "h" + strconv.Itoa(i), Account: "acme", CreatedAt: at.Add(time.Duration(i/2) * time.Microsecond), Version: 1}
		require.NoError(t, s.Create(t.Context(), k, keyChange("create", k.Hash)))
	}
	for _, c := range []struct {
		offset, limit int
		want          []string
	}{
		{0, 100, []string{"h8", "h9", "h6", "h7", "h4", "h5", "h2", "h3", "h0", "h1"}},
		{0, 3, []string{"h8", "h9", "h6"}},
		{3, 3, []string{"h7", "h4", "h5"}},
		{9, 3, []string{"h1"}},
		{10, 3, []string{}},
		{math.MaxInt32, 3, []string{}},
		{0, 0, []string{}},
	} {
		list, err := s.List(t.Context(), "acme", keys.Query{Offset: c.offset, Limit: c.limit})
		require.NoError(t, err)
		assert.Equal(t, c.want, hashesOf(list), "offset %d, limit %d", c.offset, c.limit)
	}
}

func createKeyMix(t *testing.T, s keys.Store) {
	t.Helper()
	for _, k := range []keys.Key{
		{Hash: "plain", Workspace: "w1", Creator: "ann"},
		{Hash: "off", Workspace: "w1", Creator: "ann", Disabled: true},
		{Hash: "bob", Workspace: "w1", Creator: "bob"},
		{Hash: "two", Workspace: "w2", Creator: "ann"},
		{Hash: "nowhere"},
		{Hash: "manager", Management: true, Creator: "ann"},
		{Hash: "manager off", Management: true, Creator: "bob", Disabled: true},
	} {
		k.Account, k.Version = "acme", 1
		require.NoError(t, s.Create(t.Context(), k, keyChange("create", k.Hash)))
	}
}

func keyListChooses(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	createKeyMix(t, s)
	for _, c := range []struct {
		q    keys.Query
		want []string
	}{
		{keys.Query{Workspace: "w1"}, []string{"bob", "plain"}},
		{keys.Query{Workspace: "w1", IncludeDisabled: true}, []string{"bob", "off", "plain"}},
		{keys.Query{Workspace: "w2"}, []string{"two"}},
		{keys.Query{Workspace: "W1"}, []string{}},
		{keys.Query{}, []string{"nowhere"}},
		{keys.Query{Management: true}, []string{"manager"}},
		{keys.Query{Management: true, IncludeDisabled: true, Workspace: "w1"}, []string{"manager", "manager off"}},
	} {
		c.q.Limit = 10
		list, err := s.List(t.Context(), "acme", c.q)
		require.NoError(t, err)
		assert.Equal(t, c.want, hashesOf(list), "%+v", c.q)
	}
}

func keyCounts(t *testing.T, open Open) {
	t.Helper()
	s := open(t).Keys
	createKeyMix(t, s)
	for workspace, want := range map[string]int{"w1": 3, "w2": 1, "w3": 0, "": 1} {
		n, err := s.CountIn(t.Context(), "acme", workspace)
		require.NoError(t, err)
		assert.Equal(t, want, n, "in %q", workspace)
	}
	for who, want := range map[[2]string]int{
		{"w1", "ann"}: 2, {"w1", "bob"}: 1, {"w2", "bob"}: 0, {"", "ann"}: 4, {"", "bob"}: 2, {"", "eve"}: 0,
	} {
		n, err := s.CountOf(t.Context(), "acme", who[0], who[1])
		require.NoError(t, err)
		assert.Equal(t, want, n, "%v", who)
	}
}
