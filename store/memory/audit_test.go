package memory

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

func TestAuditIsReadNewestFirst(t *testing.T) {
	s := newAuditStore()
	for i := range 5 {
		s.record(router.Change{Account: "a", Object: strconv.Itoa(i), After: []byte(`{}`)})
	}
	s.record(router.Change{Account: "b", Object: "other"})
	for _, c := range []struct {
		offset, limit int
		want          string
	}{{0, 2, "43"}, {3, 50, "10"}, {5, 50, ""}, {99, 1, ""}} {
		list, total, err := s.Changes(t.Context(), "a", c.offset, c.limit)
		require.NoError(t, err)
		assert.Equal(t, 5, total)
		var got []string
		for _, change := range list {
			got = append(got, change.Object)
			change.After[0] = 'x'
		}
		assert.Equal(t, c.want, strings.Join(got, ""))
	}
	list, _, err := s.Changes(t.Context(), "a", 0, 1)
	require.NoError(t, err)
	assert.JSONEq(t, `{}`, string(list[0].After), "records are copies")
	list, total, err := s.Changes(t.Context(), "nobody", 0, 1)
	require.NoError(t, err)
	assert.Zero(t, total)
	assert.Empty(t, list)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.Changes(ctx, "a", 0, 1)
	require.ErrorIs(t, err, context.Canceled)
}
