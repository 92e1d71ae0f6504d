package upstream

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A body is allocated once, and counts with little more than its length.
func TestALargeBodyIsAllocatedOnce(t *testing.T) {
	state := make([]byte, 4<<20)
	p := &pool{limit: DefaultMaxInFlightBytes}
	b := p.lend()
	b.Grow(len(state))
	place := cap(b.B)
	b.B = append(append(append(b.B, `{"model":"m","state":`...), state...), `,"questions":{}}`...)
	assert.True(t, b.hold())
	assert.Equal(t, place, cap(b.B))
	assert.LessOrEqual(t, p.flying.Load(), int64(len(state)+len(state)/64))
	b.done()
	assert.Zero(t, p.flying.Load())

	b = p.lend()
	b.Grow(1 << 10)
	assert.Equal(t, firstBytes, cap(b.B), "a small one fits as it is")
}
