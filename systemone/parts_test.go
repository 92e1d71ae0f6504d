package systemone_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/systemone"
)

func TestUnwrapParts(t *testing.T) {
	for state, want := range map[string]string{
		// Parts.
		` [ {"type":"text","text":"a\u0062"} ] `:                                             `"a\u0062"`,
		`[{"type":"json","value":{"a":1}}]`:                                                  `{"a":1}`,
		`[{"value":["x"],"t\u0079pe":"j\u0073on"}]`:                                          `["x"]`,
		`[{"type":"text","text":"a"},{"type":"json","value":{"b":2}}]`:                       `["a",{"b":2}]`,
		`[{"type":"json","value":1},{"type":"json","value":null},{"type":"text","text":""}]`: `[1,null,""]`,
		// A state by itself is a string, an object or an array.
		`[{"type":"json","value":5}]`:    `[5]`,
		`[{"type":"json","value":null}]`: `[null]`,
		// Anything else.
		``:                                       ``,
		`null`:                                   `null`,
		`"text"`:                                 `"text"`,
		`{"type":"text","text":"a"}`:             `{"type":"text","text":"a"}`,
		`[]`:                                     `[]`,
		`["a"]`:                                  `["a"]`,
		`[{"type":"text","text":1}]`:             `[{"type":"text","text":1}]`,
		`[{"type":"text"}]`:                      `[{"type":"text"}]`,
		`[{"type":"text","value":"a"}]`:          `[{"type":"text","value":"a"}]`,
		`[{"type":"text","text":"a","value":1}]`: `[{"type":"text","text":"a","value":1}]`,
		`[{"type":"json"}]`:                      `[{"type":"json"}]`,
		`[{"type":"json","text":"a"}]`:           `[{"type":"json","text":"a"}]`,
		`[{"type":"json","text":"a","value":1}]`: `[{"type":"json","text":"a","value":1}]`,
		`[{"type":"image","text":"a"}]`:          `[{"type":"image","text":"a"}]`,
		`[{"type":1,"text":"a"}]`:                `[{"type":1,"text":"a"}]`,
		`[{"type":"text","text":"a","x":1}]`:     `[{"type":"text","text":"a","x":1}]`,
		`[{"type":"text","text":"a"},{"type":"box"}]`: `[{"type":"text","text":"a"},{"type":"box"}]`,
		`[{"type":"text","text":"a"}`:                 `[{"type":"text","text":"a"}`,
		`[{"type":"text","text":"a"},`:                `[{"type":"text","text":"a"},`,
	} {
		t.Run(state, func(t *testing.T) {
			assert.Equal(t, want, string(systemone.UnwrapParts([]byte(state))))
		})
	}
}
