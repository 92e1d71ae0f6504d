package router_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/router"
)

func TestStorable(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "ä\n\t\x01": true, "\uFFFD": true, "\x00": false, "a\x00b": false, "\xff": false, "a\xed\xa0\x80": false,
	} {
		assert.Equal(t, want, router.Storable(text), "%q", text)
	}
}
