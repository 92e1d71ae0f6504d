package organization_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
)

// TestWorkspacesOfOneInstantKeepTheirOrder makes all of them while the clock
// stands still.
func TestWorkspacesOfOneInstantKeepTheirOrder(t *testing.T) {
	b := newBench(t)
	want := []string{"default"}
	for i := range 8 {
		slug := fmt.Sprintf("w%d", i)
		_, err := b.CreateWorkspace(t.Context(), b.by, organization.NewWorkspace{Name: slug, Slug: slug})
		require.NoError(t, err)
		want = append(want, slug)
	}
	list, _, err := b.Workspaces(t.Context(), "acme", 0, 50)
	require.NoError(t, err)
	got := make([]string, len(list))
	for i, w := range list {
		got[i] = w.Slug
	}
	assert.Equal(t, want, got)
}
