package main

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlText is the text of an HTML document as a reader sees it: lines where the blocks are, no scripts and
// no styles. It looks at one tag after another and builds no tree, so that nesting costs nothing.
func htmlText(source string) string {
	w := htmlWriter{}
	z := html.NewTokenizer(strings.NewReader(source))
	hidden := false // what follows is the content of an element that is not shown
	for {
		switch z.Next() {
		case html.ErrorToken:
			return w.out.String()
		case html.TextToken:
			if !hidden {
				w.text(string(z.Text()))
			}
			hidden = false
		case html.StartTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			hidden = unseen(tag)
			w.open(tag)
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			w.open(atom.Lookup(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			hidden = false
			w.shut(atom.Lookup(name))
		default: // comments and the like
		}
	}
}

// unseen says whether the content of an element, which the tokenizer hands over as one text, is not shown.
func unseen(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript:
		return true
	default:
		return false
	}
}

// htmlWriter collects text and folds white space as a browser does.
type htmlWriter struct {
	out    strings.Builder
	breaks int  // line ends that are due before the next word
	space  bool // a space is due before the next word
	bullet bool // the next word begins an item of a list
	pre    int  // how many elements are open that keep their line ends
}

func (w *htmlWriter) text(s string) {
	if w.pre > 0 {
		w.flush()
		w.out.WriteString(s)
		return
	}
	for i, word := range strings.FieldsFunc(s, isSpace) {
		if i > 0 || isSpace(rune(s[0])) {
			w.space = true
		}
		w.flush()
		w.out.WriteString(word)
	}
	if s != "" && isSpace(rune(s[len(s)-1])) {
		w.space = true
	}
}

// flush writes the line ends, the space and the bullet that are due.
func (w *htmlWriter) flush() {
	switch {
	case w.out.Len() == 0:
	case w.breaks > 0:
		w.out.WriteString("\n\n"[:min(w.breaks, 2)])
	case w.space:
		w.out.WriteByte(' ')
	}
	if w.bullet {
		w.out.WriteString("- ")
	}
	w.breaks, w.space, w.bullet = 0, false, false
}

func (w *htmlWriter) open(tag atom.Atom) {
	switch tag {
	case atom.Br:
		w.breaks++
	case atom.Li:
		w.breaks, w.bullet = max(w.breaks, 1), true
	case atom.Td, atom.Th:
		w.space = true
	case atom.Pre:
		w.pre++
		w.breaks = max(w.breaks, 2)
	default:
		w.block(tag)
	}
}

func (w *htmlWriter) shut(tag atom.Atom) {
	if tag == atom.Pre {
		w.pre = max(w.pre-1, 0)
		w.breaks = max(w.breaks, 2)
		return
	}
	w.block(tag)
}

// block ends a line, or a paragraph, before and after the elements that stand on lines of their own.
func (w *htmlWriter) block(tag atom.Atom) {
	switch tag {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Ul, atom.Ol,
		atom.Dl, atom.Table, atom.Hr:
		w.breaks = max(w.breaks, 2)
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Section, atom.Article, atom.Header, atom.Footer,
		atom.Main, atom.Nav, atom.Aside, atom.Address, atom.Figure, atom.Form, atom.Center, atom.Body:
		w.breaks = max(w.breaks, 1)
	default: // stands within a line
	}
}

// isSpace says what HTML folds: not the no-break space.
func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f'
}
