package upstream_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/upstream"
)

func TestSkipEndsBehindTheString(t *testing.T) {
	for _, text := range []string{
		`""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"\\\\"`, `"a\\\"b\\"`, `"\n\n\n"`, `"\u0022"`,
	} {
		require.True(t, json.Valid([]byte(text)), text)
		assert.Equal(t, len(text), upstream.Skip([]byte(text+`,"next"`), 0), text)
	}
	for _, cut := range []string{`"`, `"\`, `"\"`, `"a\\\"`} {
		assert.Equal(t, len(cut), upstream.Skip([]byte(cut), 0), "a string without an end goes to the end")
	}
}

func TestLawSkipAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("\\\"\n\u2028aé{}[],:"))).Draw(t, "text")
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		data := append(bytes.Clone(quoted), `,"\\"`...)
		require.Equal(t, len(quoted), upstream.Skip(data, 0))
	})
}

// BenchmarkSkipEscapes shows that a string of escapes takes time in proportion
// to its length: MB/s is the same for both.
func BenchmarkSkipEscapes(b *testing.B) {
	for name, n := range map[string]int{"4KB": 4 << 10, "4MB": 4 << 20} {
		data := []byte(`{"x":"` + strings.Repeat(`\n`, n/2) + `"}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if upstream.Member(data, "y") != nil {
					b.Fatal("found what is not there")
				}
			}
		})
	}
}
