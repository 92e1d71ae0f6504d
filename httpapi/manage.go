package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/router"
)

// What the handlers of management routes share. They are given the services of
// a [Config]; a service that is nil leaves its routes out.

// managementRoutes are those of every service that there is.
func (s *server) managementRoutes() []route {
	return slices.Concat(
		s.keyRoutes(),
		s.activityRoutes(),
		s.presetRoutes(),
		s.organizationRoutes(),
		s.guardrailRoutes(),
		s.credentialRoutes(),
	)
}

// counted is the reply of lists that say how many rows there are in all.
type counted struct {
	Data  any `json:"data"` // a list, never nil
	Total int `json:"total_count"`
}

// deleted is the reply to every deletion.
type deleted struct {
	Deleted bool `json:"deleted"`
}

// reply makes v the reply.
func (x *exchange) reply(status int, v any) {
	x.status, x.out = status, appendJSON(x.out, v)
}

// actor says who manages something.
func (x *exchange) actor() router.Actor {
	return router.Actor{Principal: x.principal, RequestID: x.requestID}
}

// pathID returns the UUID that the path names. One that is malformed is of
// nothing.
func (x *exchange) pathID() (string, error) {
	id, ok := uuidOf(x.r.PathValue("id"))
	if !ok {
		return "", errNotFound
	}
	return id, nil
}

// queryText returns a query parameter, or "" when it is not given. One that is
// given twice, or that no store could look for, is a mistake.
func queryText(query url.Values, name string) (string, error) {
	values := query[name]
	switch len(values) {
	case 0:
		return "", nil
	case 1:
		if !router.Storable(values[0]) {
			return "", badRequest(name, "must be UTF-8 without U+0000")
		}
		return values[0], nil
	}
	return "", badRequest(name, "must be given once")
}

// listPage is the page of a list of management records: 50 unless asked for 1
// to 100.
func (x *exchange) listPage() (page, error) { return pageWithin(x.r.URL.Query(), 50, 100) }

// stamp writes a time as the interface does; the zero time is null.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(time.RFC3339Nano))
}

// resetWord writes an interval as the interface does; lifetime is null.
func resetWord(i router.Interval) *string {
	if i == router.Lifetime {
		return nil
	}
	return new(i.String())
}

// queryWhole reads a whole number from 0 up.
func queryWhole(query url.Values, name string) (int, error) {
	text, err := queryText(query, name)
	if err != nil || text == "" {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest(name, "must be a whole number from 0 up")
	}
	return n, nil
}

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)
