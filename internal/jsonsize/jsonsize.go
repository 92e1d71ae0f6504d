// Package jsonsize computes how many bytes texts take as JSON. Limits on stored texts
// count these bytes, because JSON writes some characters with six bytes.
package jsonsize

import "unicode/utf8"

const escaped = len(`\u2028`)

// Text returns how many bytes encoding/json writes for s without HTML escaping, quotes
// included.
func Text(s string) int {
	n := len(`""`)
	for i, r := range s {
		switch r {
		case '"', '\\', '\b', '\f', '\n', '\r', '\t':
			n += 2
		case '\u2028', '\u2029':
			n += escaped
		case utf8.RuneError:
			if _, width := utf8.DecodeRuneInString(s[i:]); width == 1 { // invalid UTF-8
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

// List returns how many bytes encoding/json writes for a list of texts, brackets and
// commas included.
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
