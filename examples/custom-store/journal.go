package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/router"
)

// The verbs of changes.
const (
	reserve = "reserve"
	settle  = "settle"
	void    = "void"
	expire  = "expire"
)

// change is one change of the ledger, in the form of a line of the file.
type change struct {
	Verb   string        `json:"verb"`
	Hold   uuid.UUID     `json:"hold,omitzero"`
	Lines  [][2]string   `json:"lines,omitempty"` // owner and window
	Credit router.USD    `json:"credit,omitzero"`
	Total  router.USD    `json:"total,omitzero"`
	At     time.Time     `json:"at,omitzero"` // the deadline of a hold, or the time of an expiry
	Limit  int           `json:"limit,omitzero"`
	Policy router.Expiry `json:"policy,omitzero"`
}

// record returns c as a line: a checksum of eight hex digits, a space, and c as JSON.
// It fails for times after the year 9999, which JSON cannot represent.
func (c *change) record() ([]byte, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), nil
}

// errRecord means that record has not written this line.
var errRecord = errors.New("damaged")

// parse reads a line.
func parse(line []byte) (c change, err error) {
	sum, text, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if !found || len(line) == 0 || line[len(line)-1] != '\n' || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) {
		return c, errRecord
	}
	return c, json.Unmarshal(text, &c)
}

// replay applies the changes in a file and returns the length of its valid part, in
// bytes. Only the last change can be incomplete, because each is on disk before the
// next one is written. Damage before the last change is an error, because it would
// lose changes that were confirmed.
func replay(r io.Reader, redo func(change) error) (whole int64, err error) {
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return whole, err
		}
		c, wrong := parse(line)
		if wrong != nil {
			if _, err := lines.Peek(1); !errors.Is(err, io.EOF) {
				return whole, fmt.Errorf("line %d: %w", n, wrong)
			}
			return whole, nil
		}
		if err := redo(c); err != nil {
			return whole, fmt.Errorf("line %d: %w", n, err)
		}
		whole += int64(len(line))
	}
}

// syncFolder makes a new name in a folder durable.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // Windows cannot sync a folder, and need not
		return nil
	}
	folder, err := os.Open(path) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
