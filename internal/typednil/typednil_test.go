package typednil_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/internal/typednil"
)

type (
	pointer struct{ io.Reader }
	table   map[string]int
	call    func()
	queue   chan int
	list    []int
)

func (table) Read([]byte) (int, error) { return 0, io.EOF }
func (call) Read([]byte) (int, error)  { return 0, io.EOF }
func (queue) Read([]byte) (int, error) { return 0, io.EOF }
func (list) Read([]byte) (int, error)  { return 0, io.EOF }

type config struct {
	First  io.Reader
	Number *int // nil is its default
	Func   func()
	At     time.Time
	Inner  struct{ Second io.Reader }
	hidden io.Reader
}

func TestNilsInInterfacesAreFound(t *testing.T) {
	for _, v := range []io.Reader{(*pointer)(nil), table(nil), call(nil), queue(nil)} {
		assert.True(t, typednil.Is(v), "%T", v)
		assert.Equal(t, "First", typednil.Field(config{First: v}), "%T", v)
		c := config{First: pointer{}}
		c.Inner.Second = v
		assert.Equal(t, "Inner.Second", typednil.Field(c), "%T", v)
		assert.Empty(t, typednil.Field(config{hidden: v}), "an unexported field is skipped")
	}
	for _, v := range []io.Reader{nil, pointer{}, &pointer{}, table{}, call(func() {}), make(queue), list(nil)} {
		assert.False(t, typednil.Is(v), "%T", v)
		assert.Empty(t, typednil.Field(config{First: v}), "%T", v)
	}
}
