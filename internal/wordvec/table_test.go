package wordvec

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// packed is the file that router/similarity embeds.
const packed = "../../router/similarity/assets/words-20000-int8.bin"

func small() []byte {
	return Pack(3, []Entry{
		{"the", []float32{1, 1, 1}},
		{"cat", []float32{1, -1, .5}},
		{"dog", []float32{1, -.9, .4}},
		{"tax", []float32{-1, 0, 1}},
	}, []string{"the cat", "the tax", "the dog"})
}

func load(tb testing.TB) *Table {
	tb.Helper()
	data, err := os.ReadFile(packed)
	require.NoError(tb, err)
	table, err := Read(data)
	require.NoError(tb, err)
	return table
}

func TestLikeWordsAreNear(t *testing.T) {
	table := load(t)
	cos := func(a, b string) float32 { return dot(table.Encode(a), table.Encode(b)) }
	assert.Greater(t, cos("my invoice is wrong", "a billing error"), cos("my invoice is wrong", "the weather in Paris"))
	assert.Greater(t, cos("a dog", "the cats"), float32(.4))
	assert.Less(t, cos("the and of", "volcano"), float32(.3), "without the common direction all sentences look alike")
}

func TestEncode(t *testing.T) {
	table := load(t)
	assert.Nil(t, table.Encode(""))
	assert.Nil(t, table.Encode("zzxqqy 日本語"))
	assert.Equal(t, table.Encode("Refund, PLEASE!"), table.Encode("please refund"))
	assert.Equal(t, 100, table.Dim())
	rapid.Check(t, func(t *rapid.T) {
		v := table.Encode(rapid.String().Draw(t, "text"))
		if v != nil {
			require.InDelta(t, 1, dot(v, v), 1e-5)
		}
	})
}

func TestRareWordsCountMore(t *testing.T) {
	assert.Less(t, weight(0), weight(100))
	assert.Less(t, weight(100), weight(19999))
	assert.Less(t, weight(19999), float32(1))
}

func TestPackTakesTheCommonDirectionOut(t *testing.T) {
	table, err := Read(small())
	require.NoError(t, err)
	require.InDelta(t, 1, dot(table.common, table.common), 1e-5)
	for _, text := range []string{"cat", "the tax", "dog the the"} {
		assert.InDelta(t, 0, dot(table.Encode(text), table.common), 1e-5, "%q", text)
	}
	bare, err := Read(Pack(3, []Entry{{"cat", []float32{3, 0, 4}}}, nil))
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float32{.6, 0, .8}, bare.Encode("cat"), .01)
}

func TestPackRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-3, 3), 5, 5).Draw(t, "vector")
		r := quantise(v)
		for i := range v {
			require.InDelta(t, v[i], r.scale*float32(int8(r.values[i])), float64(r.scale)*.51)
		}
	})
}

func TestReadRefusesEveryCut(t *testing.T) {
	data := small()
	for n := range data {
		_, err := Read(data[:n])
		require.ErrorIs(t, err, ErrFormat, "cut at %d of %d", n, len(data))
	}
	_, err := Read(append(data, 0))
	require.ErrorIs(t, err, ErrFormat)
}

func TestReadRefusesDamage(t *testing.T) {
	words, dims, common, rows := len(magic), len(magic)+4, headSize, headSize+3*4
	for name, damage := range map[string]func(data []byte){
		"another file":            func(data []byte) { data[0] = 'X' },
		"words out of proportion": func(data []byte) { binary.LittleEndian.PutUint32(data[words:], math.MaxUint32) },
		"no dimension":            func(data []byte) { binary.LittleEndian.PutUint32(data[dims:], 0) },
		"too many dimensions":     func(data []byte) { binary.LittleEndian.PutUint32(data[dims:], maxDim+1) },
		"a direction no number":   func(data []byte) { binary.LittleEndian.PutUint32(data[common:], math.MaxUint32) },
		"a word too long":         func(data []byte) { data[rows] = 255 },
		"an empty word":           func(data []byte) { data[rows] = 0 },
		"the same word twice":     func(data []byte) { copy(data[rows+11+1:], "the") },
		"a scale no number":       func(data []byte) { binary.LittleEndian.PutUint32(data[rows+4:], math.MaxUint32) },
		"a negative scale":        func(data []byte) { data[rows+7] |= 0x80 },
	} {
		t.Run(name, func(t *testing.T) {
			data := small()
			damage(data)
			_, err := Read(data)
			require.ErrorIs(t, err, ErrFormat)
		})
	}
}

func TestReadRefusesAWordWithoutLetters(t *testing.T) {
	_, err := Read(Pack(2, []Entry{{"cat", []float32{1, 0}}, {"", []float32{0, 1}}}, nil))
	require.ErrorIs(t, err, ErrFormat)
}

func FuzzRead(f *testing.F) {
	f.Add(small())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Read(data)
		if err != nil {
			require.ErrorIs(t, err, ErrFormat)
			return
		}
		if v := table.Encode("the cat"); v != nil {
			require.Len(t, v, table.Dim())
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	table := load(b)
	b.ReportAllocs()
	for b.Loop() {
		table.Encode("I still have not received my new card, I ordered over a week ago and nobody answers my mail.")
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
