package router

import (
	"strings"
	"unicode/utf8"
)

// Storable reports whether every store can keep a text unchanged: it must be UTF-8
// without U+0000, which PostgreSQL's text cannot hold. Call it before a caller's
// text is stored or searched for.
func Storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }
