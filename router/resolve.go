package router

import (
	"errors"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

var (
	errPreset    = errors.New("router: no interceptor resolved the preset")
	errUndecided = errors.New("router: the call is not being decided")
)

// resolved is what became of the names in a request.
type resolved struct {
	of     *systemone.Request
	models []ModelRef
	err    error
}

// Resolve checks the request against the router's limits and finds the models
// that it names in the catalog of this call. It is for interceptors that
// refuse requests for what is in them, which comes after these checks; the
// engine asks the same. A Request that was built by hand and says null otherwise
// than by nil is replaced by one that does not. While Request stays the same
// pointer, the outcome is remembered. Every error is an [*Error]; a preset that
// is left is [NotFound]. Outside of [Router.Decide] it is a failure of the
// program.
func (c *Call) Resolve() ([]ModelRef, error) {
	if c.world == nil || c.Request == nil {
		return nil, &Error{Class: Server, Err: errUndecided}
	}
	if c.resolved.of != c.Request {
		models, err := c.resolve()
		c.resolved = resolved{of: c.Request, models: models, err: err}
	}
	return c.resolved.models, c.resolved.err
}

func (c *Call) resolve() ([]ModelRef, error) {
	if c.Validated != c.Request {
		if err := c.Request.Validate(c.limits); err != nil {
			return nil, invalid(err)
		}
		c.Request = plainNulls(c.Request)
	}
	if c.Request.Preset != "" {
		return nil, &Error{Class: NotFound, Err: errPreset}
	}
	c.Report.Requested = strings.Join(requested(c.Request), ", ")
	return c.world.catalog.Resolve(c.Request.Model, c.Request.Models...)
}

// requested lists the models that a request names, as it names them.
func requested(q *systemone.Request) []string {
	names := make([]string, 0, 1+len(q.Models))
	if q.Model != "" {
		names = append(names, q.Model)
	}
	return append(names, q.Models...)
}
