package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strings"
)

// format is how the items stand in a file.
type format string

const (
	formatAuto  format = "auto"
	formatText  format = "text"
	formatMail  format = "mail"
	formatMbox  format = "mbox"
	formatLines format = "jsonl"
)

// Set makes a format a flag.
func (f *format) Set(name string) error {
	switch format(name) {
	case formatAuto, formatText, formatMail, formatMbox, formatLines:
		*f = format(name)
		return nil
	}
	return errors.New("want auto, text, mail, mbox or jsonl")
}

// String is the name of the format.
func (f *format) String() string { return string(*f) }

// detect decides by a file's name, and where that says nothing by how it begins.
func detect(name string, head []byte) format {
	switch strings.ToLower(path.Ext(strings.ReplaceAll(name, `\`, "/"))) {
	case ".eml":
		return formatMail
	case ".jsonl", ".ndjson":
		return formatLines
	case ".txt", ".text", ".md", ".log":
		return formatText
	case ".mbox", ".mbx":
		return formatMbox
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case isSeparator(line):
		return formatMbox
	case bytes.HasPrefix(line, []byte(`{"`)) && (json.Valid(line) || len(line) == len(head)):
		return formatLines
	case looksLikeMail(head):
		return formatMail
	}
	return formatText
}

// looksLikeMail says whether text begins with a mail's header: nothing but fields up to the first empty
// line, among them one that all mail has and notes have not.
func looksLikeMail(head []byte) bool {
	known := false
	for line := range bytes.Lines(head) {
		if len(bytes.TrimSpace(line)) == 0 {
			return known
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue
		}
		name, _, ok := field(line)
		if !ok {
			return false
		}
		switch strings.ToLower(string(name)) {
		case "received", "return-path", "message-id", "mime-version", "delivered-to", "from":
			known = true
		}
	}
	return known
}

// parser makes documents of the items of a format.
func (o options) parser(f format) func([]byte) (document, error) {
	switch f {
	case formatLines:
		return o.parseLine
	case formatText:
		return parseText
	default:
		return o.parseMail
	}
}
