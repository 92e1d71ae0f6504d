package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDetectGoesByNameAndThenByContent(t *testing.T) {
	t.Parallel()
	const header = "Received: here\n\tand there\nSubject: x\n\ntext"
	for _, tt := range []struct {
		name, head string
		want       format
	}{
		{"a.EML", "", formatMail},
		{`dir.mbox\a.jsonl`, "", formatLines},
		{"a.ndjson", "From a 10:00\n", formatLines},
		{"inbox.mbox", "", formatMbox},
		{"notes.txt", "From a 10:00\nSubject: b\n", formatText},
		{"readme.md", `{"a":1}`, formatText},
		{"inbox", "From a@b Tue Nov  3 09:15:00 2026\nSubject: b\n", formatMbox},
		{"stdin", "From here on it is text\n", formatText},
		{"stdin", `{"a":1}` + "\n" + `{"a":2}`, formatLines},
		{"stdin", `{"a":"` + strings.Repeat("x", 1000), formatLines}, // a line longer than what is seen of it
		{"stdin", "{\"a\"\n:1}", formatText},
		{"stdin", `{placeholder} text`, formatText},
		{"stdin", header, formatMail},
		{"stdin", "From: Ada <a@b>\nSubject: x\n\n", formatMail},
		{"stdin", "Subject: a note\nTo: me\n\ntext", formatText},
		{"stdin", "From: the desk of\nno field\n\n", formatText},
		{"stdin", "", formatText},
	} {
		assert.Equal(t, tt.want, detect(tt.name, []byte(tt.head)), "%s %q", tt.name, tt.head)
	}
}

func TestHTMLReadsAsItIsShown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"a<b>b</b>c":                                     "abc",
		" a\n\tb <i>c</i> ,<i> d</i>":                    "a b c , d",
		"<p>one<p>two":                                   "one\n\ntwo",
		"<div>one</div><div>two</div>":                   "one\ntwo",
		"<div><div>one</div></div>two":                   "one\ntwo",
		"one<br/>two<br><br>three":                       "one\ntwo\n\nthree",
		"<ul><li>one</li><li>two</ul>end":                "- one\n- two\n\nend",
		"<table><tr><td>a<td>b<tr><td>c":                 "a b\nc",
		"&lt;b&gt; &eacute;&#8364;&nbsp;x":               "<b> é€\u00a0x",
		"a<script>b</script><style>c</style><!-- d -->e": "ae",
		"a<script></script>b":                            "ab",
		"<pre> a\n  b</pre>c  d":                         "a\n  b\n\nc d",
		"</pre></pre>a   b":                              "a b",
		"</pre><pre>a   b</pre>":                         "a   b",
		"a < b":                                          "a < b",
		"":                                               "",
	} {
		assert.Equal(t, want, tidy(htmlText(source)), "%q", source)
	}
}

func TestBase64IsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		text  string
		whole bool
	}{
		"":                   {"", true},
		"aGVsbG8=":           {"hello", true},
		" aGVs\r\nbG8=\n":    {"hello", true},
		"aGVsbG8=aGVsbG8=":   {"hellohello", true}, // two padded runs
		"aGVsbG8":            {"hello", false},     // no padding
		"aGVsbG8==":          {"hello", false},     // too much
		"aGVsb":              {"hel", false},       // six bits are no byte
		"a!GVsbG8=":          {"hello", false},
		"aGVsbG=aGVsbG8=":    {"hellhello", false},
		"\x00\xffaGVsbG8=??": {"hello", false},
	} {
		text, whole := saveBase64([]byte(in))
		assert.Equal(t, want.text, string(text), "%q", in)
		assert.Equal(t, want.whole, whole, "%q", in)
	}
}

func TestCharsetsThatMakeTextVanishAreNotBelieved(t *testing.T) {
	t.Parallel()
	var n notes
	assert.Equal(t, "text \u00e9", decodeDeclared([]byte("text \xe9"), "iso-2022-kr", &n))
	assert.Len(t, n, 1)
}

func TestOfTwoPlainFormsTheLaterIsBetter(t *testing.T) {
	t.Parallel()
	doc, err := options{}.parseMail([]byte("Content-Type: multipart/alternative; boundary=b\n\n--b\n\nfirst\n--b\n\nsecond\n--b\n" +
		"Content-Type: text/html\n\n<p>third\n--b--\n"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"text":"second"}`, string(doc.state))
}

func TestTooManyPartsAreSaidToBeLeftOut(t *testing.T) {
	t.Parallel()
	doc, err := options{}.parseMail([]byte("Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", maxParts+10)))
	require.NoError(t, err)
	assert.Len(t, doc.notes, 1)
	assert.Contains(t, doc.notes[0], "the rest was left out")
	assert.Less(t, strings.Count(doc.title+string(doc.state), "x"), maxParts+5)
}

func TestAFieldMayHaveSpaceBeforeItsColon(t *testing.T) {
	t.Parallel()
	doc, err := options{}.parseMail([]byte("Subject : spaced\n\n"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"subject":"spaced"}`, string(doc.state))
}

func TestALineAfterTheSeparatorIsNoSeparator(t *testing.T) {
	t.Parallel()
	all := readAll(options{format: formatMbox}, "f", strings.NewReader("From a 10:00\nFrom b 11:00\nSubject: one\n\ntext\n"))
	assert.Len(t, all, 1)
}

func TestNotesAreFewAndDiffer(t *testing.T) {
	t.Parallel()
	var n notes
	for i := range 10 * maxNotes {
		n.add("note %d", i/2)
	}
	assert.Len(t, n, maxNotes)
	assert.Equal(t, "note 1", n[1])
}

func TestALongTextIsCutBetweenWordsWithANote(t *testing.T) {
	t.Parallel()
	var n notes
	short := strings.Repeat("x", maxText)
	assert.Equal(t, short, shorten(short, &n))
	assert.Empty(t, n)
	assert.Equal(t, strings.Repeat("word ", maxText/5-1)+"word", shorten(strings.Repeat("word ", maxText), &n))
	assert.Len(t, n, 1)
	assert.Equal(t, strings.Repeat("\u00e9", maxText/2), shorten(strings.Repeat("\u00e9", maxText), &n))
	assert.Equal(t, "x"+strings.Repeat("\u00e9", maxText/2-1), shorten("x"+strings.Repeat("\u00e9", maxText), &n))
}

func TestTheSenderAndTheDateAreLeftOutUnlessAskedFor(t *testing.T) {
	t.Parallel()
	raw := []byte("Subject: s\nFrom: a@b\nDate: Tue, 03 Nov 2026 09:15:00 +0100\n\n" + strings.Repeat("text ", maxText))
	doc, err := options{}.parseMail(raw)
	require.NoError(t, err)
	assert.NotContains(t, string(doc.state), `"from"`)
	assert.NotContains(t, string(doc.state), `"date"`)
	assert.Less(t, len(doc.state), maxText+100)
	assert.Len(t, doc.notes, 1)
	doc, err = options{envelope: true}.parseMail(raw)
	require.NoError(t, err)
	assert.Contains(t, string(doc.state), `"from":"a@b","date":"2026-11-03T09:15:00+01:00"`)
}
