package systemone

import (
	"errors"
	"strings"
)

// ErrInvalid is wrapped by every [*InvalidError].
var ErrInvalid = errors.New("systemone: invalid request")

// Issue is one problem of a request. Its path is safe to show: a name is quoted as
// in Go where it is empty or has dots, spaces, quotes or unprintable characters. A
// name is cut after 64 characters and a path after 16 names; … marks the cut.
type Issue struct {
	Path    string `json:"path"` // dotted, e.g. questions.refund.criteria; "" is the body
	Message string `json:"message"`
}

// InvalidError lists every problem found in a request. Its issues may be shown to
// the sender of the request.
type InvalidError struct{ Issues []Issue }

// Error returns the issues in one line.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString(ErrInvalid.Error())
	for i, is := range e.Issues {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		if is.Path != "" {
			b.WriteString(is.Path)
			b.WriteString(": ")
		}
		b.WriteString(is.Message)
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrInvalid) true.
func (e *InvalidError) Unwrap() error { return ErrInvalid }
