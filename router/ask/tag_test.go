package ask

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/systemone"
)

// writeOptions is the inverse of parseOptions.
func writeOptions(list []Option) string {
	escape := strings.NewReplacer(`\`, `\\`, "|", `\|`, "=", `\=`)
	texts := make([]string, 0, len(list))
	for _, o := range list {
		text := escape.Replace(o.Name)
		if guidance, ok := o.Guidance.(string); ok {
			text += "=" + escape.Replace(guidance)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "|")
}

func TestParseOptions(t *testing.T) {
	for text, want := range map[string][]Option{
		"":                     {{Name: ""}},
		"a":                    {{Name: "a"}},
		"a|b":                  {{Name: "a"}, {Name: "b"}},
		" a = x y | b ":        {{Name: "a", Guidance: "x y"}, {Name: "b"}},
		"a=x=y":                {{Name: "a", Guidance: "x=y"}},
		`a\|b\=c=d\|e|f\\`:     {{Name: "a|b=c", Guidance: "d|e"}, {Name: `f\`}},
		"a=|b":                 {{Name: "a", Guidance: ""}, {Name: "b"}},
		"a|":                   {{Name: "a"}, {Name: ""}},
		"é=\u00a0x|\U0001F600": {{Name: "é", Guidance: "\u00a0x"}, {Name: "\U0001F600"}},
	} {
		got, err := parseOptions(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{`a\`, `a\b`, `a=\n`, `a=b\`} {
		_, err := parseOptions(text)
		assert.Error(t, err, text)
	}
}

// TestOptionsRoundTrip: every list of names and guidance can be written in a tag.
func TestOptionsRoundTrip(t *testing.T) {
	word := rapid.Map(rapid.StringOf(rapid.RuneFrom([]rune{'a', 'é', '|', '=', '\\', ' ', '"'})), func(s string) string { return strings.Trim(s, " ") })
	rapid.Check(t, func(t *rapid.T) {
		var want []Option
		for range rapid.IntRange(2, 5).Draw(t, "options") {
			o := Option{Name: word.Draw(t, "name")}
			if rapid.Bool().Draw(t, "guided") {
				o.Guidance = word.Draw(t, "guidance")
			}
			want = append(want, o)
		}
		tag := "ask:\"a\" json:\"-\" options:" + strconv.Quote(" "+writeOptions(want)+" ")
		got, err := parseTag(tag)
		require.NoError(t, err)
		assert.Equal(t, Question{Name: "a", Options: want}, got)
	})
}

func TestParseTagIsStrict(t *testing.T) {
	for _, tag := range []string{
		`ask`, `ask:`, `ask:desk`, `ask:"desk`, `:"desk"`, `ask:"desk" q`, "ask:`desk`", `as k:"desk"`, `ask:'d'`, `ask:"a" "b":"c"`,
	} {
		_, err := parseTag(tag)
		require.ErrorContains(t, err, "malformed", tag)
	}
	_, err := parseTag(`ask:"a" q:"b\c"`)
	require.EqualError(t, err, `the struct tag is malformed at "q:\"b\\c\"": it consists of key:"value" pairs, where the value is a Go string`)
	_, err = parseTag(`ask:"a" q:"b" ask:"c"`)
	require.EqualError(t, err, "the tag ask is given more than once")
	q, err := parseTag(` ask:"a"q:"b"  json:"c,omitempty" json:"d" `)
	require.NoError(t, err)
	assert.Equal(t, Question{Name: "a", Instructions: "b"}, q)
}

// FuzzParseTag: what parseTag accepts, reflect reads equally, and the options can
// be written and read again.
func FuzzParseTag(f *testing.F) {
	f.Add(`ask:"desk" q:"Which?" options:"billing=charges|technical" default:"billing"`)
	f.Add(`ask:"heat" q:"How?" levels:"a\\|b|c\\=d=e=f"`)
	f.Add(`ask:"x" json:"y" yes:"1" no:"2"`)
	f.Add(`ask:"x`)
	f.Fuzz(func(t *testing.T, tag string) {
		q, err := parseTag(tag)
		if err != nil {
			return
		}
		if name, ok := reflect.StructTag(tag).Lookup("ask"); ok && name != q.Name {
			t.Fatalf("%q is read as %q", name, q.Name)
		}
		for _, kind := range []systemone.Kind{systemone.Choice, systemone.Noul, systemone.Score} {
			if s, err := q.check(kind); err == nil && (len(s.labels) == 0 || s.byDefault >= len(s.labels)) {
				t.Fatalf("%q has passed as a %s", tag, kind)
			}
		}
		for _, list := range [][]Option{q.Options, q.Levels} {
			if list == nil {
				continue
			}
			again, err := parseOptions(writeOptions(list))
			if err != nil || !reflect.DeepEqual(list, again) {
				t.Fatalf("%+v became %+v, %v", list, again, err)
			}
		}
	})
}
