package uselite

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packed is the file that router/similarity embeds.
const packed = "../../router/similarity/assets/use-lite-int8.bin"

func load(tb testing.TB) *Model {
	tb.Helper()
	data, err := os.ReadFile(packed)
	require.NoError(tb, err)
	m, err := Read(data)
	require.NoError(tb, err)
	return m
}

// reference is the JavaScript original's result for a text.
type reference struct {
	Text   string    `json:"text"`
	IDs    []int32   `json:"ids"`
	Vector []float32 `json:"vector"` // rounded to four decimals
}

func references(tb testing.TB) []reference {
	tb.Helper()
	f, err := os.Open("testdata/reference.json.gz")
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	unzipped, err := gzip.NewReader(f)
	require.NoError(tb, err)
	var rs []reference
	require.NoError(tb, json.NewDecoder(unzipped).Decode(&rs))
	require.Len(tb, rs, 68)
	return rs
}

// kernels are the kernels that this processor can run.
func kernels() map[string]product {
	return map[string]product{"fastest": fastest(), "portable": multiplyPortable}
}

func TestReferenceTokens(t *testing.T) {
	m := load(t)
	for _, r := range references(t) {
		assert.Equal(t, r.IDs, m.tokens.encode(r.Text), "%q", r.Text)
		assert.Equal(t, len(r.IDs), m.Count(r.Text))
	}
}

func TestReferenceVectors(t *testing.T) {
	m := load(t)
	rs := references(t)
	for name, k := range kernels() {
		m.multiply = k
		for i, r := range rs {
			if name == "portable" && i%8 != 0 {
				continue // the portable kernel takes ten times as long, more under the race detector
			}
			v, err := m.Encode(t.Context(), r.Text)
			require.NoError(t, err)
			unit(r.Vector)
			assert.Greater(t, dot(v, r.Vector), float32(.999), "%s: %q", name, r.Text)
			assert.InDelta(t, 1, dot(v, v), 1e-5)
		}
	}
}

func TestEmptyText(t *testing.T) {
	m := load(t)
	v, err := m.Encode(t.Context(), "")
	require.NoError(t, err)
	assert.Nil(t, v)
	assert.Zero(t, m.Count(""))
}

func TestUnknownTextHasNoVector(t *testing.T) {
	m := load(t)
	for _, text := range []string{"\x00", "\xff\xfe", "☃", " ", "☃ ☃", strings.Repeat("☃", 500)} {
		v, err := m.Encode(t.Context(), text)
		require.NoError(t, err)
		assert.Nil(t, v, "%q", text)
		assert.NotZero(t, m.Count(text))
	}
	v, err := m.Encode(t.Context(), "☃ in winter")
	require.NoError(t, err)
	assert.NotNil(t, v)
}

func TestLongTextIsCut(t *testing.T) {
	m := load(t)
	long := strings.Repeat("good ", MaxTokens)
	a, err := m.Encode(t.Context(), long+"day")
	require.NoError(t, err)
	b, err := m.Encode(t.Context(), long+"bye")
	require.NoError(t, err)
	assert.Equal(t, a, b)
	assert.Equal(t, MaxTokens, m.Count(long[:len(long)-1]))
	b, err = m.Encode(t.Context(), strings.Repeat("good ", MaxTokens-1)+"bye")
	require.NoError(t, err)
	assert.NotEqual(t, a, b, "the last piece still counts")
}

func TestEncodeHonoursContext(t *testing.T) {
	m := load(t)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	m.multiply = func(l *linear, x []float32, n int, y, work []float32) {
		if calls++; calls == 2 {
			cancel()
		}
		multiplyPortable(l, x, n, y, work)
	}
	_, err := m.Encode(ctx, "good day")
	require.ErrorIs(t, err, context.Canceled)
	assert.Less(t, calls, 5, "the second half of the layer must not run")

	_, err = m.Encode(ctx, "")
	require.ErrorIs(t, err, context.Canceled)
}

func TestEncodeInParallel(t *testing.T) {
	m := load(t)
	texts := []string{"a refund, please", "where is my parcel?", "thank you"}
	want := make([][]float32, len(texts))
	for i, text := range texts {
		var err error
		want[i], err = m.Encode(t.Context(), text)
		require.NoError(t, err)
	}
	var wait sync.WaitGroup
	for range 3 {
		for i, text := range texts {
			wait.Go(func() {
				got, err := m.Encode(t.Context(), text)
				assert.Equal(t, want[i], got)
				assert.NoError(t, err)
			})
		}
	}
	wait.Wait()
}

func BenchmarkEncode(b *testing.B) {
	m := load(b)
	texts := []struct{ name, text string }{
		{"pieces=9", "How do I locate my card?"},
		{"pieces=23", "I still have not received my new card, I ordered over a week ago and nobody answers my mail."},
		{"pieces=128", strings.Repeat("What is the capital of France? ", 20)},
	}
	for name, k := range kernels() {
		m.multiply = k
		for _, text := range texts {
			b.Run(name+"/"+text.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Encode(b.Context(), text.text); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data, err := os.ReadFile(packed)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(data); err != nil {
			b.Fatal(err)
		}
	}
}
