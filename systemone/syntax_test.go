package systemone_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/systemone"
)

func label(i int) string { return strconv.Itoa(i) }

func TestCheckSyntaxAccepts(t *testing.T) {
	for _, data := range []string{
		`null`, ` true `, "\t\r\n false\n", `0`, `-0`, `-12.50e+3`, `1E-2`, `1e400`, `""`, `{}`, `[]`, ` [ ] `, ` { } `,
		`[1,[2,[3]],{"a":{"b":[]}}]`, `{"a":1 , "b" : 2}`, `"\u0000\ud83d\ude00\uFFFD\uABcd"`, "\"\U0001F600\u2028\"",
		`"\"\\\/\b\f\n\r\t"`, `{"a":1,"A":2}`, strings.Repeat("[", 64) + strings.Repeat("]", 64),
		`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"10":0}`,
	} {
		t.Run(data, func(t *testing.T) {
			assert.True(t, json.Valid([]byte(data)))
			assert.NoError(t, systemone.CheckSyntax([]byte(data)))
		})
	}
}

func TestCheckSyntaxRefuses(t *testing.T) {
	const lone = "invalid escape or half of a surrogate pair"
	for data, want := range map[string]string{
		``:                          "0: unexpected end, expected a value",
		`  `:                        "2: unexpected end, expected a value",
		"\ufeff{}":                  "0: expected a value",
		"\x00":                      "0: expected a value",
		"{}\x00":                    "2: unexpected data after the value",
		`{} {}`:                     "3: unexpected data after the value",
		`nul`:                       "0: expected a value",
		`True`:                      "0: expected a value",
		`falsy`:                     "0: expected a value",
		`nullx`:                     "4: unexpected data after the value",
		`NaN`:                       "0: expected a value",
		`+1`:                        "0: expected a value",
		`01`:                        "1: unexpected data after the value",
		`-`:                         "0: expected a value",
		`1.`:                        "0: expected a value",
		`.5`:                        "0: expected a value",
		`1e`:                        "0: expected a value",
		`1e+`:                       "0: expected a value",
		`[`:                         "1: unexpected end, expected a value",
		`[1`:                        "2: unexpected end, expected a comma or a closing bracket",
		`[1 2]`:                     "3: expected a comma or a closing bracket",
		`[1,]`:                      "3: expected a value",
		`[1}`:                       "2: expected a comma or a closing bracket",
		`{`:                         "1: unexpected end, expected a member name",
		`{1:2}`:                     "1: expected a member name",
		`{"a"}`:                     "4: expected a colon",
		`{"a" 1}`:                   "5: expected a colon",
		`{"a":}`:                    "5: expected a value",
		`{"a":1`:                    "6: unexpected end, expected a comma or a closing brace",
		`{"a":1]`:                   "6: expected a comma or a closing brace",
		`{"a":1,}`:                  "7: expected a member name",
		`{"a\x":1}`:                 "3: invalid escape",
		`"`:                         "1: unexpected end, expected the end of a string",
		`"a`:                        "2: unexpected end, expected the end of a string",
		`"\`:                        "2: unexpected end, expected the end of a string",
		`"\"`:                       "3: unexpected end, expected the end of a string",
		`"\x"`:                      "1: invalid escape",
		`"\u12"`:                    "1: " + lone,
		`"\u12g4"`:                  "1: " + lone,
		`"\ud800"`:                  "1: " + lone,
		`"\ud800\n"`:                "1: " + lone,
		`"\ud800\u0041"`:            "1: " + lone,
		`"\udc00\ud800"`:            "1: " + lone,
		"\"a\nb\"":                  "2: control character in a string",
		"\"\x00\"":                  "1: control character in a string",
		"\"\xff\"":                  "1: invalid UTF-8",
		"\"\xc0\x80\"":              "1: invalid UTF-8",
		"\"\xed\xa0\x80\"":          "1: invalid UTF-8",
		"\"\xf4\x90\x80\x80\"":      "1: invalid UTF-8",
		"{\"\xe2\x82\":1}":          "2: invalid UTF-8",
		strings.Repeat("[", 65):     "64: nested deeper than 64 levels",
		strings.Repeat(`{"a":`, 65): "320: nested deeper than 64 levels",
	} {
		t.Run(data, func(t *testing.T) {
			assert.Equal(t, []string{": invalid JSON at byte " + want}, issues(t, systemone.CheckSyntax([]byte(data))))
		})
	}
}

func TestCheckSyntaxDuplicates(t *testing.T) {
	for _, c := range []struct {
		data string
		want []string
	}{
		{`{"a":1,"a":2}`, []string{"a"}},
		{`{"a":1,"\u0061":2,"a":3}`, []string{"a"}},
		{`{"":1,"":2}`, []string{`""`}},
		{`{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"\u0031":0,"1":0,"8":0}`, []string{"1", "8"}},
		{`[0,{"x":[{"a.b":1,"a.b":2}]}]`, []string{`1.x.0."a.b"`}},
		{`{"\u0061":{"b\n":1,"b\u000a":2}}`, []string{`a."b\n"`}},
	} {
		t.Run(c.data, func(t *testing.T) {
			assert.Equal(t, c.want, paths(t, systemone.CheckSyntax([]byte(c.data))))
		})
	}
}

// TestCheckSyntaxOnlyTheSyntaxError: duplicate names of a broken text are not
// reported, because it is not known to have members at all.
func TestCheckSyntaxOnlyTheSyntaxError(t *testing.T) {
	err := systemone.CheckSyntax([]byte(`{"x":{"a":1,"a":2}`))
	assert.Equal(t, []string{": invalid JSON at byte 18: unexpected end, expected a comma or a closing brace"}, issues(t, err))
}

func TestPathsAreSafeToShow(t *testing.T) {
	for name, want := range map[string]string{
		"plain-1_é/eu":             "plain-1_é/eu",
		"a b":                      `"a b"`,
		"a.b":                      `"a.b"`,
		`a"b\`:                     `"a\"b\\"`,
		"\x1b[31m\r\n":             `"\x1b[31m\r\n"`,
		"\u202egnp":                `"\u202egnp"`,
		"\ufffd":                   `"�"`,
		strings.Repeat("x", 64):    strings.Repeat("x", 64),
		strings.Repeat("x", 65):    strings.Repeat("x", 64) + "…",
		strings.Repeat("\x00", 65): `"` + strings.Repeat(`\x00`, 64) + `…"`,
	} {
		t.Run(want, func(t *testing.T) {
			n := string(systemone.Text(name))
			assert.Equal(t, []string{want}, paths(t, systemone.CheckSyntax([]byte(`{`+n+`:1,`+n+`:2}`))))
		})
	}
}

// TestHostileBodies are refused or accepted in time that is nearly linear in their
// size; the time limit of the tests enforces that.
func TestHostileBodies(t *testing.T) {
	const size = 4 << 20
	member := func(i int) string { return fmt.Sprintf(`"k%d":0`, i) }
	var many strings.Builder
	for i := range 100_000 {
		many.WriteString(member(i) + ",")
	}
	deep := strings.Repeat(`{"`+strings.Repeat("n", 60)+`":`, 62)
	deepEnd := strings.Repeat("}", 62)
	for _, c := range []struct {
		name, body string
		want       []string // nil: it is taken
	}{
		{"a million brackets", strings.Repeat("[", 1_000_000), []string{""}},
		{"a million brackets in the state", `{"state":` + strings.Repeat("[", 1_000_000), []string{""}},
		{"many empty objects", with(`"state2":[` + strings.Repeat("{},", size/3) + `{}]`), nil},
		{"many members", with(`"x":{` + many.String() + `"last":0}`), nil},
		{"many members, one twice", with(`"x":{` + many.String() + member(500) + `}`), []string{"x.k500"}},
		{"one member many times", with(`"x":{` + strings.Repeat(`"a":0,`, size/6) + `"a":0}`), []string{"x.a"}},
		{"one member many times, deep", with(`"x":` + deep + `{` + strings.Repeat(`"a":0,`, size/6) + `"a":0}` + deepEnd), []string{"x." + strings.Repeat(strings.Repeat("n", 60)+".", 15) + "…"}},
		{"long number in the state", strings.Replace(with(`"x":1`), `"s"`, `[`+strings.Repeat("1", size)+`]`, 1), nil},
		{"long number as a cutoff", with(`"provider":{"preferred_max_latency":` + strings.Repeat("1", 5<<20) + `}`), []string{"provider.preferred_max_latency"}},
		{"long number as a price", with(`"provider":{"max_price":{"prompt":` + strings.Repeat("1", 5<<20) + `}}`), []string{"provider.max_price.prompt"}},
		{"huge exponent as a price", with(`"provider":{"max_price":{"prompt":"1e1000000000","request":1e-1000000000}}`), []string{"provider.max_price.prompt", "provider.max_price.request"}},
		{"huge number as a cutoff", with(`"provider":{"preferred_max_latency":1e400}`), []string{"provider.preferred_max_latency"}},
		{"backslashes", with(`"x":"` + strings.Repeat(`\\`, size/2) + `"`), nil},
		{"escapes in a name", with(`"x":{"` + strings.Repeat(`\u0041`, size/6) + `":1}`), nil},
		{"zeros", strings.Repeat("\x00", size), []string{""}},
		{"spaces", strings.Repeat(" ", size), []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := systemone.Decoder{}.Decode([]byte(c.body))
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.want, paths(t, err))
		})
	}
}
