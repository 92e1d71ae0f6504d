// Package jsontext reads and writes JSON as text, without building a tree of values.
//
// The readers expect text that systemone.CheckSyntax has accepted. On other text their
// results are meaningless, but they neither panic nor loop. Results are slices of the
// input, except for strings with escapes, which are copies.
package jsontext
