package similarity

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/wordvec"
)

func bagOf(text string) bag { return newBag(wordvec.Words(text)) }

func TestStem(t *testing.T) {
	for word, want := range map[string]string{
		"payments": "pay", "payment": "pay", "paying": "pay", "pay": "pay",
		"parties": "party", "carried": "carry", "stopped": "stop", "stopping": "stop",
		"calls": "call", "calling": "call", "delivered": "deliver", "refunds": "refund", "refund": "refund",
		"charge": "charg", "charges": "charg", "charged": "charg", "is": "is", "sing": "sing",
	} {
		assert.Equal(t, want, stem(word), word)
	}
}

func TestOverlap(t *testing.T) {
	same := func(a, b string) float64 { return bagOf(a).overlap(bagOf(b)) }
	assert.InDelta(t, 1, same("Refund my order!", "refund MY order"), 1e-12)
	assert.Zero(t, same("refund", "weather"))
	assert.Zero(t, same("", "weather"))
	assert.Greater(t, same("refunded orders", "refund order"), .5, "endings do not count")
	assert.Greater(t, same("cancel order", "cancel the order"), .7, "stop words hardly count")
	assert.Greater(t, same("late parcel", "late parcel"), same("late parcel", "parcel late"), "order counts a little")
	assert.Greater(t, same("cancellation", "cancelled"), 0.0, "spelling counts a little")
}

func TestOverlapIsACosine(t *testing.T) {
	text := rapid.StringMatching(`([a-e]{1,6} ){0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := bagOf(text.Draw(t, "a")), bagOf(text.Draw(t, "b"))
		require.InDelta(t, a.overlap(b), b.overlap(a), 1e-12)
		require.GreaterOrEqual(t, a.overlap(b), 0.0)
		require.LessOrEqual(t, a.overlap(b), 1+1e-9)
		if len(a) > 0 {
			require.InDelta(t, 1, a.overlap(a), 1e-9)
		}
	})
}
