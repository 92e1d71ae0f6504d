package routertest

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/router"
)

// testRefusals: a refused question is named, and the others are answered. A dialect
// that refuses all questions or none is tested with all of them.
func testRefusals(t *testing.T, w Wire) {
	t.Helper()
	if !w.Refusals && !w.RefusesAll && !w.SilenceRefuses {
		return // the dialect has no refusals to test
	}
	b := newBench(t, w)
	if !w.RefusesAll {
		for _, name := range []string{"refund", "desk", "heat"} {
			b.refuses(t, router.Refusal{Question: name})
		}
	}
	all := []router.Refusal{{Question: "refund"}, {Question: "desk"}, {Question: "heat"}}
	t.Run("all", func(t *testing.T) { b.refuses(t, all...) })
	t.Run("text", func(t *testing.T) {
		said := func(text string) string {
			for i := range all {
				all[i].Text = text
			}
			return b.refuses(t, all...)[0].Text
		}
		if !w.RefusalTexts {
			assert.Empty(t, said("I cannot judge that."), "the dialect has no text")
			return
		}
		for _, text := range []string{"I cannot judge that.", "\u00e9\n\"\u4e16\"", strings.Repeat("x", 4<<10)} {
			assert.Equal(t, text, said(text))
		}
		long := strings.Repeat("x\u4e16", 4<<10)
		got := said(long)
		assert.LessOrEqual(t, len(got), 4<<10, "at most 4 KiB are kept")
		assert.NotEmpty(t, got)
		assert.True(t, strings.HasPrefix(long, got), "the beginning is kept, in whole characters")
		assert.True(t, utf8.ValidString(got))
		said("")
	})
	t.Run("safety", func(t *testing.T) {
		for _, safety := range []bool{false, true} {
			for i := range all {
				all[i].Safety = safety
			}
			for _, r := range b.refuses(t, all...) {
				assert.Equal(t, safety && w.RefusesForSafety, r.Safety, "as the dialect tells")
			}
		}
	})
}

// refuses asks, makes the upstream refuse these questions, and returns what the
// provider says of them. The others must be answered.
func (b *bench) refuses(t *testing.T, refused ...router.Refusal) []router.Refusal {
	t.Helper()
	a := b.attempt(mixed())
	want := defaultReply(a)
	want.Refused = refused
	for _, r := range refused {
		drop(&want, r.Question)
	}
	b.body(http.StatusOK, nil, b.wire.Encode(a, want))
	got, err := b.provider.Decide(t.Context(), a)
	require.NoError(t, err)
	require.ElementsMatch(t, names(want), names(got))
	if len(got.Refused) < len(a.Request.Questions) {
		require.NoError(t, acceptable(a.Request, got, b.wire.Tolerance))
	} else {
		assert.Empty(t, got.Answers)
	}
	return got.Refused
}

// names returns the names of the questions that a reply refuses.
func names(r router.Reply) []string {
	names := make([]string, len(r.Refused))
	for i := range r.Refused {
		names[i] = r.Refused[i].Question
	}
	return names
}
