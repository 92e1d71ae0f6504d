package signalbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A parser of the cases in testdata/many-models. Their notation is explained in
// 00-notation.txt.

// manyCase is one case. Its lines are in the order of the file.
type manyCase struct {
	file, name, title string
	lines             [][2]string // word and text
}

// all returns the texts of the lines with a word.
func (c *manyCase) all(word string) []string {
	var list []string
	for _, line := range c.lines {
		if line[0] == word {
			list = append(list, line[1])
		}
	}
	return list
}

// one returns the text of the only line with a word, or "".
func (c *manyCase) one(word string) string {
	if list := c.all(word); len(list) > 0 {
		return list[0]
	}
	return ""
}

// manyWords are the words of a line, and whether a case may have several such lines.
func manyWords() map[string]bool {
	words := map[string]bool{"given": true, "before": true, "issue": true, "leg": true, "warning": true}
	for _, word := range []string{
		"catalog", "composed", "option", "state", "send", "ask", "reply", "excluded", "answers", "cost", "tokens",
		"requests", "fallback", "parallel", "lasts", "retry",
	} {
		words[word] = false
	}
	for slug := range manyProviders() {
		words[slug] = false
	}
	return words
}

// readManyCases returns the cases of all files, and the texts that stand for $names.
func readManyCases(t *testing.T) (cases []*manyCase, named map[string]string) {
	t.Helper()
	files, err := filepath.Glob("testdata/many-models/*.txt")
	require.NoError(t, err)
	named, seen, words := map[string]string{}, map[string]bool{}, manyWords()
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for n, line := range strings.Split(string(data), "\n") {
			place := fmt.Sprintf("%s:%d", filepath.Base(file), n+1)
			line, _, _ = strings.Cut(line, " // ")
			text := strings.TrimSpace(line)
			switch {
			case text == "" || text[0] == '#' || strings.HasPrefix(text, "//"):
			case line[0] == ' ':
				require.NotEmpty(t, cases, place)
				word, rest, _ := strings.Cut(text, " ")
				many, known := words[word]
				c := cases[len(cases)-1]
				require.True(t, known, "%s: unknown word %q", place, word)
				require.True(t, many || c.one(word) == "", "%s: a second line %q", place, word)
				c.lines = append(c.lines, [2]string{word, strings.TrimSpace(rest)})
			default:
				if name, title, ok := strings.Cut(text, " | "); ok {
					require.False(t, seen[name], "%s: a second case %s", place, name)
					seen[name] = true
					cases = append(cases, &manyCase{file: place, name: name, title: title})
					continue
				}
				name, meaning, ok := strings.Cut(text, " = ")
				require.True(t, ok, "%s: neither a case nor a name", place)
				named[name] = meaning
			}
		}
	}
	for _, c := range cases {
		for i := range c.lines {
			c.lines[i][1] = expand(t, c.lines[i][1], named)
		}
	}
	return cases, named
}

var dollar = regexp.MustCompile(`\$[a-z]+`)

// expand replaces the $names in a text.
func expand(t *testing.T, text string, named map[string]string) string {
	t.Helper()
	return dollar.ReplaceAllStringFunc(text, func(name string) string {
		meaning, ok := named[name[1:]]
		require.True(t, ok, "unknown name %s", name)
		return expand(t, meaning, named)
	})
}

// repeated cuts "12× " from a text.
func repeated(t *testing.T, text string) (times int, rest string) {
	t.Helper()
	count, rest, ok := strings.Cut(text, "× ")
	if !ok {
		return 1, text
	}
	times, err := strconv.Atoi(count)
	require.NoError(t, err, text)
	return times, rest
}

// cutJSON cuts a JSON value from the beginning of a text.
func cutJSON(t *testing.T, text string) (value, rest string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	require.NoError(t, d.Decode(&raw), text)
	return text[:d.InputOffset()], strings.TrimSpace(text[d.InputOffset():])
}

// manyQuestion is a question of the vocabulary.
type manyQuestion struct {
	name    string
	kind    string   // noul, choice or score
	options []string // of a choice; the levels of a score
}

// parseManyQuestions reads "desk refund pick/30 q1..q9".
func parseManyQuestions(t *testing.T, text string) []manyQuestion {
	t.Helper()
	var list []manyQuestion
	for word := range strings.FieldsSeq(text) {
		name, size, sized := strings.Cut(word, "/")
		n := 3
		if sized {
			var err error
			n, err = strconv.Atoi(size)
			require.NoError(t, err, word)
		}
		q := manyQuestion{name: name, kind: "choice"}
		switch {
		case name == "desk":
			q.options = []string{"billing", "tech", "sales"}
		case name == "lang":
			q.options = []string{"de", "en"}
		case strings.HasPrefix(name, "pick"):
			q.options = numbered("o", 1, n)
		case name == "mood" || name == "grade":
			q.kind, q.options = "score", numbered("", 0, n-1)
		case strings.Contains(name, ".."):
			for _, one := range between(t, name) {
				list = append(list, manyQuestion{name: one, kind: "noul"})
			}
			continue
		default:
			q.kind = "noul"
		}
		list = append(list, q)
	}
	return list
}

func numbered(prefix string, from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, prefix+strconv.Itoa(i))
	}
	return list
}

var span = regexp.MustCompile(`^([a-z])(\d+)\.\.[a-z](\d+)$`)

// between returns the names of "o1..o15", or of "o15,o30".
func between(t *testing.T, text string) []string {
	t.Helper()
	m := span.FindStringSubmatch(text)
	if m == nil {
		return strings.Split(text, ",")
	}
	from, err := strconv.Atoi(m[2])
	require.NoError(t, err)
	to, err := strconv.Atoi(m[3])
	require.NoError(t, err)
	return numbered(m[1], from, to)
}

// manyBody returns the body of a request.
func manyBody(t *testing.T, members, state string, questions []manyQuestion) string {
	t.Helper()
	require.True(t, json.Valid([]byte(members)), "no JSON: %s", members)
	var b bytes.Buffer
	fmt.Fprintf(&b, `%s,"state":%q,"questions":{`, strings.TrimSuffix(members, "}"), state)
	for i, q := range questions {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%q:{"type":%q,"instructions":"?"`, q.name, q.kind)
		switch q.kind {
		case "choice":
			fmt.Fprintf(&b, `,"criteria":{"%s":null}`, strings.Join(q.options, `":null,"`))
		case "score":
			fmt.Fprintf(&b, `,"criteria":["%s"]`, strings.Join(q.options, `","`))
		}
		b.WriteByte('}')
	}
	b.WriteString("}}")
	return b.String()
}
