package systemone

import (
	"errors"
	"strings"
)

// ErrInvalid is what every [*InvalidError] is.
var ErrInvalid = errors.New("systemone: invalid request")

// Issue is one problem of a request. Its path is safe to show: a name is quoted
// as in Go where it is empty or has dots, spaces, quotes or characters that do
// not print, and cut after 64 characters, and a path after 16 names; … stands
// for the rest.
type Issue struct {
	Path    string `json:"path"` // dotted, e.g. questions.refund.criteria; "" is the body
	Message string `json:"message"`
}

// InvalidError lists every problem found in a request. Its issues may be shown
// to whoever sent the request.
type InvalidError struct{ Issues []Issue }

// Error joins the issues.
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
