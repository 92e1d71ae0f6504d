package presets_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/systemone"
)

// FuzzDecode checks that no body panics, and that the kept parts of an accepted body
// are accepted again and give the same preset.
func FuzzDecode(f *testing.F) {
	for _, b := range bounds {
		for _, value := range append(b.good, b.bad...) {
			value, _, _ = strings.Cut(value, "#")
			f.Add(uint8(0), []byte(chat(`"`+b.name+`":`+value)))
		}
	}
	f.Add(uint8(1), []byte(chat(`"system":[{"type":"text","text":"x"}],"route":"sort","provider":{"sort":"price"}`)))
	f.Add(uint8(2), []byte(`{"instructions":"x","input":[{}]}`))
	f.Fuzz(func(t *testing.T, shape uint8, body []byte) {
		first, err := presets.Decode(presets.Shape(shape%3), body)
		if err != nil {
			var invalid *systemone.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Issues)
			return
		}
		require.True(t, json.Valid(first.Config), "%s", first.Config)
		again, err := presets.Decode(presets.Responses, first.Config)
		require.NoError(t, err, "%s", first.Config)
		require.Equal(t, string(first.Config), string(again.Config))
		if first.SystemPrompt != "" {
			again, err = presets.Decode(presets.Responses, []byte(`{"instructions":`+string(systemone.Text(first.SystemPrompt))+`}`))
			require.NoError(t, err)
			require.Equal(t, first.SystemPrompt, again.SystemPrompt)
		}
	})
}
