package router

import (
	"errors"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

var (
	errPreset    = errors.New("router: no interceptor resolved the preset")
	errUndecided = errors.New("router: Call.Resolve was called outside of Router.Decide")
)

// resolved is the cached outcome of [Call.Resolve] for one request.
type resolved struct {
	of     *systemone.Request
	groups []group
	err    error
	room   [1]group // of groups, for a request with one
}

// Resolve checks the request against the router's limits and returns the models
// that it names in the call's catalog, those of the first group first. It is for
// interceptors that inspect a request, which must be valid first. Where a request
// built by hand contains the JSON text null instead of nil, Request is replaced by
// a copy with nil. The outcome is remembered while Request is the same pointer.
//
// Every error is an [*Error]. A preset that no interceptor has resolved is
// [NotFound]. Outside of [Router.Decide] the error is a [Server].
func (c *Call) Resolve() ([]ModelRef, error) {
	groups, err := c.resolvedGroups()
	switch {
	case err != nil:
		return nil, err
	}
	return modelsOf(groups), nil
}

// resolvedGroups returns the outcome of Resolve by group.
func (c *Call) resolvedGroups() ([]group, error) {
	if c.world == nil || c.Request == nil {
		return nil, &Error{Class: Server, Err: errUndecided}
	}
	if c.resolved.of != c.Request {
		groups, err := c.resolve()
		c.resolved.of, c.resolved.groups, c.resolved.err = c.Request, groups, err
	}
	return c.resolved.groups, c.resolved.err
}

func (c *Call) resolve() ([]group, error) {
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
	c.resolved.room[0] = group{}
	return c.world.catalog.groupsOf(c.Request, c.resolved.room[:0])
}

// requested lists the names of models in a request.
func requested(q *systemone.Request) []string {
	names := make([]string, 0, 1+len(q.Models))
	if q.Model != "" {
		names = append(names, q.Model)
	}
	for i := range q.Models {
		names = append(names, q.Models[i].Model)
	}
	return names
}
