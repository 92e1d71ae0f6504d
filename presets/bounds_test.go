package presets_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/systemone"
)

// written is how many bytes a version has in a reply, written as httpapi does.
func written(t *testing.T, d presets.Draft) int {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(d.SystemPrompt))
	prompt := b.Len() - 1 // without the line feed
	b.Reset()
	require.NoError(t, e.Encode(d.Config))
	return prompt + b.Len() - 1
}

// TestVersionsHaveABoundAsTheyAreWritten fills a version to the bound with each
// kind of character, in each member that is a text and in the system prompt of
// each shape: at the bound it is taken, and above it refused.
func TestVersionsHaveABoundAsTheyAreWritten(t *testing.T) {
	for name, character := range map[string]string{
		"a letter": "a", "a quote": `"`, "a control": "\x01", "markup": "<", "two bytes": "é", "four bytes": "😀",
		"a separator": "\u2028", "a backslash": `\`, "a line feed": "\n",
	} {
		for place, body := range map[string]struct {
			shape presets.Shape
			text  string // of the body, with a text for %
			path  string
		}{
			"system prompt": {presets.ChatCompletions, `{"messages":[{"role":"system","content":%}]}`, "messages"},
			"system parts":  {presets.ChatCompletions, `{"messages":[{"role":"system","content":[{"type":"text","text":%}]}]}`, "messages"},
			"system":        {presets.Messages, `{"messages":[{"role":"user","content":"x"}],"system":%}`, "system"},
			"instructions":  {presets.Responses, `{"instructions":%}`, "instructions"},
			"config":        {presets.Responses, `{"model":"m","tools":[{"x":%}]}`, "tools"},
			"many members":  {presets.Responses, `{"model":"m","seed":1,"stop":%,"instructions":"short"}`, "stop"},
		} {
			t.Run(name+" in "+place, func(t *testing.T) {
				decode := func(n int) (presets.Draft, error) {
					text := systemone.AppendString(nil, strings.Repeat(character, n))
					return presets.Decode(body.shape, []byte(strings.Replace(body.text, "%", string(text), 1)))
				}
				low, high := 0, presets.MaxVersionBytes+1 // refused at high
				for high-low > 1 {
					middle := (low + high) / 2
					if _, err := decode(middle); err == nil {
						low = middle
					} else {
						high = middle
					}
				}
				d, err := decode(low)
				require.NoError(t, err)
				assert.LessOrEqual(t, written(t, d), presets.MaxVersionBytes)
				assert.Greater(t, written(t, d), presets.MaxVersionBytes-8, "nothing is refused for less")
				_, err = decode(high)
				var invalid *systemone.InvalidError
				require.ErrorAs(t, err, &invalid)
				require.Len(t, invalid.Issues, 1)
				assert.Equal(t, body.path, invalid.Issues[0].Path)
				assert.Contains(t, invalid.Issues[0].Message, strconv.Itoa(presets.MaxVersionBytes))
			})
		}
	}
}

// Members that are not kept do not count against the bound.
func TestOnlyWhatIsKeptCountsForTheBound(t *testing.T) {
	_, err := presets.Decode(presets.ChatCompletions, []byte(`{"messages":[{"role":"user","content":"`+strings.Repeat("a", 1<<20)+`"}],"user":"`+
		strings.Repeat("b", 1<<20)+`"}`))
	require.NoError(t, err)
}

func TestOldVersionsGo(t *testing.T) {
	g := newRig(t)
	s, err := presets.New(presets.Config{Store: g.set.Presets, Workspace: workspaces, MaxVersions: 3})
	require.NoError(t, err)
	for range 5 {
		_, err := s.Create(t.Context(), manager, shop, "p", presets.ChatCompletions, []byte(chat("")))
		require.NoError(t, err)
	}
	list, total, err := s.Versions(t.Context(), manager, shop, "p", 0, 100)
	require.NoError(t, err)
	assert.Equal(t, 3, total)
	require.Len(t, list, 3)
	assert.Equal(t, []int{3, 4, 5}, []int{list[0].Number, list[1].Number, list[2].Number})
	_, err = s.Version(t.Context(), manager, shop, "p", 2)
	require.ErrorIs(t, err, presets.ErrNotFound)
}

func TestAWorkspaceHoldsSoManyPresets(t *testing.T) {
	g := newRig(t)
	s, err := presets.New(presets.Config{Store: g.set.Presets, Workspace: workspaces, MaxPresets: 2})
	require.NoError(t, err)
	add := func(slug string) error {
		_, err := s.Create(t.Context(), manager, shop, slug, presets.ChatCompletions, []byte(chat("")))
		return err
	}
	require.NoError(t, add("a"))
	require.NoError(t, add("b"))
	require.NoError(t, add("a"))
	var invalid *systemone.InvalidError
	require.ErrorAs(t, add("c"), &invalid)
	require.Equal(t, []systemone.Issue{{Path: "slug", Message: "would be a new preset: the workspace has 2, the most it may have"}}, invalid.Issues)
}

func TestBoundsHaveDefaults(t *testing.T) {
	for _, cfg := range []presets.Config{{MaxVersions: -1}, {MaxPresets: -1}} {
		cfg.Store = newRig(t).set.Presets
		_, err := presets.New(cfg)
		require.ErrorIs(t, err, presets.ErrConfig)
	}
	g := newRig(t)
	for range 103 {
		g.make(t, shop, "p", "")
	}
	list, total, err := g.Versions(t.Context(), manager, shop, "p", 0, 1)
	require.NoError(t, err)
	assert.Equal(t, 100, total)
	assert.Equal(t, 4, list[0].Number)
}
