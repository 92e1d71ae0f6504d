// Package jsontext reads and writes JSON as text, without building anything.
//
// The readers are for text that systemone.CheckSyntax has accepted. Of any other text
// they make nonsense, but they neither panic nor loop, and return no more than what is
// there. What they return is part of the text, except for strings with escapes.
package jsontext
