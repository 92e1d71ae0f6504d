package router

import (
	"strings"
	"unicode/utf8"
)

// Storable says whether every store can keep a text as it is: whether it is
// UTF-8 without U+0000, which the text of PostgreSQL cannot hold. Whoever takes
// a text from a stranger to store it, or to look for it, asks first.
func Storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }
