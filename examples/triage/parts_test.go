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
		want       string
	}{
		{"a.EML", "", "mail"},
		{`dir.mbox\a.jsonl`, "", "jsonl"},
		{"a.ndjson", "From a 10:00\n", "jsonl"},
		{"inbox.mbox", "", "mbox"},
		{"notes.txt", "From a 10:00\nSubject: b\n", "text"},
		{"readme.md", `{"a":1}`, "text"},
		{"inbox", "From a@b Tue Nov  3 09:15:00 2026\nSubject: b\n", "mbox"},
		{"stdin", "From here on it is text\n", "text"},
		{"stdin", `{"a":1}` + "\n" + `{"a":2}`, "jsonl"},
		{"stdin", `{"a":"` + strings.Repeat("x", 1000), "jsonl"}, // a line longer than what is seen of it
		{"stdin", "{\"a\"\n:1}", "text"},
		{"stdin", `{placeholder} text`, "text"},
		{"stdin", header, "mail"},
		{"stdin", "From: Ada <a@b>\nSubject: x\n\n", "mail"},
		{"stdin", "Subject: a note\nTo: me\n\ntext", "text"},
		{"stdin", "From: the desk of\nno field\n\n", "text"},
		{"stdin", "", "text"},
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
		"<pre> a\n  b</pre>c  d":                         "a b\n\nc d",
		"</pre></pre>a   b":                              "a b",
		"a < b":                                          "a < b",
		"":                                               "",
	} {
		assert.Equal(t, want, tidy(htmlText(source)), "%q", source)
	}
}

func TestOfTwoPlainFormsTheLaterIsBetter(t *testing.T) {
	t.Parallel()
	doc, err := parseMail([]byte("Content-Type: multipart/alternative; boundary=b\n\n--b\n\nfirst\n--b\n\nsecond\n--b\n" +
		"Content-Type: text/html\n\n<p>third\n--b--\n"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"text":"second"}`, string(doc.state))
}

func TestTooManyPartsAreSaidToBeLeftOut(t *testing.T) {
	t.Parallel()
	doc, err := parseMail([]byte("Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", maxParts+10)))
	require.NoError(t, err)
	assert.Len(t, doc.notes, 1)
	assert.Contains(t, doc.notes[0], "the rest is left out")
	assert.Less(t, strings.Count(string(doc.state), "x"), maxParts+5)
}

func TestAFieldMayHaveSpaceBeforeItsColon(t *testing.T) {
	t.Parallel()
	doc, err := parseMail([]byte("Subject : spaced\n\n"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"subject":"spaced"}`, string(doc.state))
}

func TestALineAfterTheSeparatorIsNoSeparator(t *testing.T) {
	t.Parallel()
	all := readAll(options{format: "mbox"}, "f", strings.NewReader("From a 10:00\nFrom b 11:00\nSubject: one\n\ntext\n"))
	assert.Len(t, all, 1)
}

func TestNotesAreFewAndDiffer(t *testing.T) {
	t.Parallel()
	var doc document
	for i := range 10 * maxNotes {
		doc.note("note %d", i/2)
	}
	assert.Len(t, doc.notes, maxNotes)
	assert.Equal(t, "note 1", doc.notes[1])
}

func TestALongTextIsCutBetweenWordsWithANote(t *testing.T) {
	t.Parallel()
	var doc document
	short := strings.Repeat("x", maxText)
	assert.Equal(t, short, doc.shorten(short))
	assert.Empty(t, doc.notes)
	assert.Equal(t, strings.Repeat("word ", maxText/5-1)+"word", doc.shorten(strings.Repeat("word ", maxText)))
	assert.Len(t, doc.notes, 1)
	assert.Equal(t, strings.Repeat("\u00e9", maxText/2), doc.shorten(strings.Repeat("\u00e9", maxText)))
	assert.Equal(t, "x"+strings.Repeat("\u00e9", maxText/2-1), doc.shorten("x"+strings.Repeat("\u00e9", maxText)))
}

func TestTheSenderAndTheDateAreLeftOut(t *testing.T) {
	t.Parallel()
	doc, err := parseMail([]byte("Subject: s\nFrom: a@b\nDate: Tue, 03 Nov 2026 09:15:00 +0100\n\n" + strings.Repeat("text ", maxText)))
	require.NoError(t, err)
	assert.NotContains(t, string(doc.state), `"from"`)
	assert.NotContains(t, string(doc.state), `"date"`)
	assert.Less(t, len(doc.state), maxText+100)
	assert.Len(t, doc.notes, 1)
}
