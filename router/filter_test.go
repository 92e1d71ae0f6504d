package router_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// Every filter, detail and source has a word of its own; the zero values have none.
func TestWordsOfExclusions(t *testing.T) {
	seen := map[string]bool{"": true}
	fresh := func(word string) {
		assert.False(t, seen[word], "%q again", word)
		seen[word] = true
	}
	for f := range router.FilterFallbacks {
		fresh((f + 1).String())
	}
	for d := range router.DetailAudio {
		fresh((d + 1).String())
	}
	for s := range router.SourceKey {
		fresh((s + 1).String())
	}
	assert.Equal(t, "allow_fallbacks", router.FilterFallbacks.String())
	assert.Equal(t, "max_price.audio", router.DetailAudio.String())
	text, err := json.Marshal(router.Exclusion{})
	require.NoError(t, err)
	assert.JSONEq(t, `{"Endpoint":null,"Reason":"","Detail":"","Source":""}`, string(text))
}

func TestSourceReadsItsText(t *testing.T) {
	for s := range router.SourceKey + 1 {
		text, err := json.Marshal(s)
		require.NoError(t, err)
		var back router.Source
		require.NoError(t, json.Unmarshal(text, &back))
		assert.Equal(t, s, back)
	}
	s := router.SourceKey
	require.EqualError(t, s.UnmarshalText([]byte("Key")), `router: "Key" is no source of rules`)
	assert.Equal(t, router.SourceKey, s, "unchanged")
}
