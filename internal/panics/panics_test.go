package panics_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/panics"
)

func TestPanicNamesItsPlace(t *testing.T) {
	require.ErrorContains(t, panics.Catch(func() error { panic("boom") }), "panic: boom")
	require.ErrorContains(t, panics.Catch(func() error { panic("boom") }), "panics_test.go")
	require.ErrorContains(t, panics.Catch(func() error { return []error{}[len(t.Name())] }), "index out of range")
}

func TestErrorsPassAsTheyAre(t *testing.T) {
	want := errors.New("an error")
	require.Equal(t, want, panics.Catch(func() error { return want }))
	require.NoError(t, panics.Catch(func() error { return nil }))
}
