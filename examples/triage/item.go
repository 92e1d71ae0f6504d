package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// maxItem is the largest item, in bytes as it stands in its file, that is read. A larger one is reported
// and skipped, so that memory is bounded by the number of items at work and not by what a file holds.
const maxItem = 4 << 20

// maxText is how many bytes of a text or of a mail's text are asked about: how it begins says what it is
// about, and the embedded model takes the longer the more it reads.
const maxText = 5000

// errTooLarge is the failure of an item above maxItem.
var errTooLarge = fmt.Errorf("larger than %d MiB: skipped", maxItem>>20)

// errEmpty is the failure of an item in which there is nothing to ask about.
var errEmpty = errors.New("empty: nothing to ask about")

// item is one thing to decide about, as it was found in its file and not yet understood.
type item struct {
	source string // the file, and the line or the number of the message in it: for people
	id     string // what the item is called unless it names itself
	raw    []byte
	parse  func(raw []byte) (document, error)
	err    error // why it could not be read; then raw and parse are nil
}

// document is an understood item.
type document struct {
	id    string          // empty when the item does not name itself
	title string          // a few words for the reader of the table
	state json.RawMessage // a string, an object or an array
	notes notes
}

// notes are things that were wrong with an item and could be mended: they are reported and are no failure.
type notes []string

// maxNotes is how many notes an item may have, so that one hostile item cannot flood the terminal.
const maxNotes = 8

// add keeps a note unless it stands there already.
func (n *notes) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(*n) < maxNotes && !slices.Contains(*n, text) {
		*n = append(*n, text)
	}
}
