package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRun compares the output of the tour with testdata/tour.txt.
func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(context.WithoutCancel(t.Context()), &out))
	want, err := os.ReadFile("testdata/tour.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), out.String())
	assert.NotContains(t, out.String(), "sk-rt-", "no key is printed")
}
