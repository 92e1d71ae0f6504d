package httpapi

import (
	"net/http"
	"slices"
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

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)
