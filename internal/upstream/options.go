package upstream

import (
	"encoding/json"

	"github.com/signalbox/signalbox/systemone"
)

// AppendOptions appends those members of a caller's options that are in known, each
// after a comma and in the order of known. Options that are no object have none; a
// null member counts as absent.
func AppendOptions(dst []byte, options json.RawMessage, known []string) []byte {
	if len(options) == 0 || len(known) == 0 || systemone.CheckSyntax(options) != nil {
		return dst
	}
	for _, name := range known {
		if value := Member(options, name); value != nil {
			dst = AppendName(dst, name)
			dst = append(dst, value...)
		}
	}
	return dst
}

// AppendName begins a member that is not the first of its object.
func AppendName(dst []byte, name string) []byte {
	dst = append(dst, ',')
	dst = systemone.AppendString(dst, name)
	return append(dst, ':')
}
