package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// spread is a long stream that costs no memory: n times the same text between a head and a tail.
func spread(head, text string, n int, tail string) io.Reader {
	parts := []io.Reader{strings.NewReader(head)}
	for range n {
		parts = append(parts, strings.NewReader(text))
	}
	return io.MultiReader(append(parts, strings.NewReader(tail))...)
}

func TestAnItemAboveTheLimitIsSkippedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	mib := strings.Repeat("x", 1<<20)
	const separator = "From a Tue Nov  3 09:15:00 2026\n"
	tests := map[string]struct {
		format string
		in     io.Reader
		places []string // of the items
		errors []string
	}{
		"a line of 10 MiB": {
			"jsonl", spread(`{"a":"b"}`+"\n"+`{"a":"`, mib, 10, `"}`+"\n"+`"c"`),
			[]string{"f:1", "f:2", "f:3"},
			[]string{"", errTooLarge.Error(), ""},
		},
		"a last line of 10 MiB": {"jsonl", spread(`"`, mib, 10, `"`), []string{"f:1"}, []string{errTooLarge.Error()}},
		"a mail of one line of 10 MiB": {
			"mbox", spread(separator+"Subject: a\n\n", mib, 10, "\n\n"+separator+"Subject: b\n\nb\n"),
			[]string{"f#1", "f#2"},
			[]string{errTooLarge.Error(), ""},
		},
		"a mail of a million lines": {
			"mbox", spread(separator+"Subject: a\n\n", strings.Repeat("line\n", 1000), 1000, "\n"+separator+"Subject: b\n\nb\n"),
			[]string{"f#1", "f#2"},
			[]string{errTooLarge.Error(), ""},
		},
		"a separator of 10 MiB": {
			"mbox", spread("From ", mib, 10, "\nSubject: a\n\na\n"),
			[]string{"f#1"},
			[]string{errTooLarge.Error()},
		},
		"a text of 10 MiB":       {"text", spread("", mib, 10, ""), []string{"f"}, []string{errTooLarge.Error()}},
		"a mail file of 10 MiB":  {"mail", spread("Subject: a\n\n", mib, 10, ""), []string{"f"}, []string{errTooLarge.Error()}},
		"a text at the limit":    {"text", spread("", mib, maxItem>>20, ""), []string{"f"}, []string{""}},
		"a text above the limit": {"text", spread("", mib, maxItem>>20, "x"), []string{"f"}, []string{errTooLarge.Error()}},
		"a line at the limit":    {"jsonl", spread(`"`, mib, maxItem>>20-1, mib[2:]+"\"\n"), []string{"f:1"}, []string{""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var places, failures []string
			options{format: tt.format}.file("f", tt.in, func(i item) bool {
				places = append(places, i.source)
				assert.LessOrEqual(t, len(i.raw), maxItem+2)
				err := i.err
				if err == nil {
					_, err = i.parse(i.raw)
				}
				if err == nil {
					failures = append(failures, "")
				} else {
					failures = append(failures, err.Error())
				}
				return true
			})
			assert.Equal(t, tt.places, places)
			assert.Equal(t, tt.errors, failures)
		})
	}
}

func TestAStreamThatBreaksOffIsAnItemThatFailed(t *testing.T) {
	t.Parallel()
	broken := func(text string) io.Reader {
		return io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrClosedPipe))
	}
	for f, want := range map[string][]string{
		"jsonl": {"f:1", "f:2: " + io.ErrClosedPipe.Error()},
		"mbox":  {"f#1: " + io.ErrClosedPipe.Error()},
		"text":  {"f: " + io.ErrClosedPipe.Error()},
		"mail":  {"f: " + io.ErrClosedPipe.Error()},
		"auto":  {"f: " + io.ErrClosedPipe.Error()},
	} {
		text := "From a 10:00\nSubject: a\n\n"
		if f == "jsonl" {
			text = `"a"` + "\n"
		}
		if f == "auto" {
			text = ""
		}
		var got []string
		options{format: f}.file("f", broken(text), func(i item) bool {
			place := i.source
			if i.err != nil {
				place += ": " + i.err.Error()
			}
			got = append(got, place)
			return true
		})
		assert.Equal(t, want, got, f)
	}
}

func TestFilesThatCannotBeReadAreItemsThatFailed(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing.txt")
	all := sources(t, options{format: "auto", files: []string{missing, t.TempDir(), "-"}}, "a text")
	require.Len(t, all, 3)
	require.ErrorIs(t, all[0].err, os.ErrNotExist)
	assert.Equal(t, missing, all[0].source)
	require.Error(t, all[1].err)
	assert.NotContains(t, all[1].err.Error(), "\n")
	require.NoError(t, all[2].err)
	assert.Equal(t, "stdin", all[2].source)
	assert.Equal(t, "a text", string(all[2].raw))
}

func TestMailsMadeToTakeApartTheReader(t *testing.T) {
	t.Parallel()
	many := "Content-Type: multipart/mixed; boundary=b\nSubject: s\n\n" + strings.Repeat("--b\n\nx\n", 200_000)
	tower := strings.Builder{}
	for range 20_000 {
		tower.WriteString("Content-Type: message/rfc822\n\n")
	}
	for name, raw := range map[string]string{
		"parts without end":          many,
		"mails within mails":         "Subject: s\n" + tower.String(),
		"a header without end":       "Subject: s\n" + strings.Repeat("X-A: b\n", 500_000),
		"a field without end":        "Subject: s\n" + strings.Repeat(" folded\n", 400_000),
		"encoded words without end":  "Subject: " + strings.Repeat("=?utf-8?q?", 300_000) + "\n\n",
		"tags without end":           "Subject: s\nContent-Type: text/html\n\n" + strings.Repeat("<div><pre>", 300_000),
		"a tag that is never closed": "Subject: s\nContent-Type: text/html\n\n<" + strings.Repeat("a b=\"c\" ", 300_000),
		"soft line ends only":        "Subject: s\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.Repeat("=\n", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := parseMail([]byte(raw))
			require.NoError(t, err)
			assert.Contains(t, string(doc.state), `"subject"`)
		})
	}
}

func TestMailboxGivesBackTheMailsThatWereWritten(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"", "text", "From here", ">From there", ">>From", "From a 10:00", "Subject: x", "=", "\u00e9"})
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SliceOf(rapid.SliceOf(line)).Draw(t, "mails")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		var box bytes.Buffer
		var want []string
		for i, lines := range bodies {
			fmt.Fprintf(&box, "From a@b Tue Nov  3 09:15:00 2026%sSubject: %d%s%s", end, i, end, end)
			var text strings.Builder
			fmt.Fprintf(&text, "Subject: %d%s%s", i, end, end)
			for _, l := range lines {
				text.WriteString(l + end)
				if strings.HasPrefix(strings.TrimLeft(l, ">"), "From ") {
					l = ">" + l
				}
				box.WriteString(l + end)
			}
			box.WriteString(end)
			want = append(want, text.String()+end)
		}
		var got []string
		options{format: "mbox"}.file("f", &box, func(i item) bool {
			got = append(got, string(i.raw))
			return true
		})
		assert.Equal(t, want, got)
	})
}
