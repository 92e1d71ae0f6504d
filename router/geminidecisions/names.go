package geminidecisions

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// The names that are sent in place of the caller's are a letter and a position.
const (
	questionLetter = 'q'
	optionLetter   = 'o'
)

// maxOptionName is the most characters that the name of an option has.
const maxOptionName = 128

// renamed reports whether the options of a choice are sent under names of our own.
func renamed(q *systemone.Question) bool {
	return slices.ContainsFunc(q.Options, func(o systemone.Option) bool {
		return o.Name == "" || strings.TrimSpace(o.Name) != o.Name || utf8.RuneCountInString(o.Name) > maxOptionName
	})
}

func appendPosition(dst []byte, letter byte, at int) []byte {
	return strconv.AppendInt(append(dst, letter), int64(at), 10)
}

// position reads a name that appendPosition wrote for one of n positions.
func position(name string, letter byte, n int) (at int, ok bool) {
	if name == "" || name[0] != letter {
		return 0, false
	}
	at, err := strconv.Atoi(name[1:])
	return at, err == nil && at >= 0 && at < n && strconv.Itoa(at) == name[1:]
}
