package jsontext_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/jsontext"
)

func TestSkipEndsBehindTheString(t *testing.T) {
	for _, text := range []string{
		`""`, `"a"`, `"\""`, `"\\"`, `"\\\""`, `"\\\\"`, `"a\\\"b\\"`, `"\n\n\n"`, `"\u0022"`,
	} {
		require.True(t, json.Valid([]byte(text)), text)
		assert.Equal(t, len(text), jsontext.Skip([]byte(text+`,"next"`), 0), text)
	}
	for _, cut := range []string{`"`, `"\`, `"\"`, `"a\\\"`} {
		assert.Equal(t, len(cut), jsontext.Skip([]byte(cut), 0), "a string without an end goes to the end")
	}
}

func TestLawSkipAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("\\\"\n\u2028aé{}[],:"))).Draw(t, "text")
		quoted, err := json.Marshal(text)
		require.NoError(t, err)
		data := append(bytes.Clone(quoted), `,"\\"`...)
		require.Equal(t, len(quoted), jsontext.Skip(data, 0))
	})
}

// rebuilt copies a value with every reader, as encoding/json would decode it.
func rebuilt(value []byte) any {
	value = jsontext.Trim(value)
	if jsontext.IsNull(value) {
		return nil
	}
	if s, ok := jsontext.Text(value); ok {
		return s
	}
	if members, ok := jsontext.Members(value); ok {
		out := map[string]any{}
		for name, member := range members {
			out[name] = rebuilt(member)
		}
		return out
	}
	if list, ok := jsontext.Elements(value); ok {
		out := []any{}
		for _, item := range list {
			out = append(out, rebuilt(item))
		}
		return out
	}
	var scalar any
	if json.Unmarshal(value, &scalar) != nil {
		return nil
	}
	return scalar
}

// FuzzReaders holds that the readers agree with encoding/json on valid JSON, and end
// without a panic on any other text.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e3,true,false,null,"x\n\"\\\u00e9"],"":{},"\u0062\ud83d\ude00":[]}`, ` [ { "a" : "b" , "c" : [ ] } ] `, `"`, `"\`, `{"`, `{"a`, `{"a":`,
		`{"a":1,`, `[`, `[1,`, `[,]`, `{:}`, `\ud800`, `"\ud800"`, `"\u12"`, `{1:2}`, `]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := rebuilt(data)
		var want any
		if bytes.Contains(data, []byte(`\ud`)) || bytes.Contains(data, []byte(`\uD`)) { // the readers keep half a surrogate pair as it is, encoding/json replaces it
			return
		}
		if !json.Valid(data) || json.Unmarshal(data, &want) != nil || !bytes.Equal(data, bytes.ToValidUTF8(data, nil)) {
			return
		}
		assert.Equal(t, want, got)
	})
}

// FuzzAppendString holds that encoding/json decodes what AppendString wrote.
func FuzzAppendString(f *testing.F) {
	for _, seed := range []string{"", "a\"\\\n\r\t\x00\x1f", "é😀\u2028", "\xff<&>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := jsontext.AppendString([]byte("x"), s)[1:]
		var back string
		require.NoError(t, json.Unmarshal(quoted, &back))
		assert.Equal(t, string([]rune(s)), back)
		again, ok := jsontext.Text(quoted)
		assert.True(t, ok)
		assert.Equal(t, back, again)
		assert.Equal(t, string(quoted[1:len(quoted)-1]), string(jsontext.AppendText(nil, s)))
	})
}

func TestUnescapeTakesWholePairsOnly(t *testing.T) {
	for escape, want := range map[string]struct {
		r    rune
		size int
	}{
		`\n`: {'\n', 2}, `\/x`: {'/', 2}, `\u00e9`: {'é', 6}, `\ud83d\ude00`: {'😀', 12},
		`\`: {}, `\x`: {}, `\u12`: {}, `\ud83d`: {}, `\ud83d\u0041`: {}, `\ude00\ud83d`: {},
	} {
		r, size := jsontext.Unescape([]byte(escape))
		assert.Equal(t, want.size, size, escape)
		assert.Equal(t, want.r, r, escape)
	}
	assert.Equal(t, `\ud83d!`, string(jsontext.Unescaped([]byte(`\ud83d!`))), "a broken escape represents itself")
}
