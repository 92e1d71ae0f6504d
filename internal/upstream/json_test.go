package upstream_test

import (
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/upstream"
)

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
