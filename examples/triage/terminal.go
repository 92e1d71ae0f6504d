package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// terminal says whether w is a terminal, and how wide it is; 0 when it does not say.
func terminal(w io.Writer) (columns int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return columns, true
}

// printable is text that cannot steer a terminal: on one line, without control and formatting characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), r == unicode.ReplacementChar:
			return '?'
		}
		return r
	}, text)
}

// pad makes text exactly n cells wide; a longer one ends in an ellipsis.
func pad(text string, n int) string {
	var out strings.Builder
	used := 0
	text = printable(text)
	long := cells(text) > n
	for _, r := range text {
		w := runeCells(r)
		if long && used+w > n-1 {
			out.WriteRune('…')
			used++
			break
		}
		out.WriteRune(r)
		used += w
	}
	return out.String() + strings.Repeat(" ", max(n-used, 0))
}

// cells is how many cells of a terminal text takes.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case width.LookupRune(r).Kind() == width.EastAsianWide, width.LookupRune(r).Kind() == width.EastAsianFullwidth:
		return 2
	}
	return 1
}
