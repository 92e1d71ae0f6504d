// Package jsonsize tells how large texts are in a reply. A bound on what is
// stored counts these bytes: encoding/json writes some characters as six.
package jsonsize

import "unicode/utf8"

const escaped = len(`\u2028`)

// Text is how many bytes encoding/json writes for s, quotes included, where it
// does not escape what HTML would take for markup.
func Text(s string) int {
	n := len(`""`)
	for i, r := range s {
		switch r {
		case '"', '\\', '\b', '\f', '\n', '\r', '\t':
			n += 2
		case '\u2028', '\u2029':
			n += escaped
		case utf8.RuneError:
			if _, width := utf8.DecodeRuneInString(s[i:]); width == 1 { // no UTF-8
				n += escaped
				continue
			}
			n += utf8.RuneLen(r)
		default:
			if r < ' ' {
				n += escaped
				continue
			}
			n += utf8.RuneLen(r)
		}
	}
	return n
}

// List is how many bytes a list of texts has, with its brackets and commas.
func List(texts []string) int {
	n := len(`[]`)
	for i, s := range texts {
		if i > 0 {
			n++
		}
		n += Text(s)
	}
	return n
}
