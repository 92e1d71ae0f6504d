package httpapi

import (
	"net/http"
	"slices"
	"time"

	"github.com/signalbox/signalbox/router"
)

// What the handlers of management routes share. The services come from [Config]; a nil
// service has no routes.

// managementRoutes are the routes of all services in [Config].
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

// reply sets the status and encodes v as the reply's body.
func (x *exchange) reply(status int, v any) {
	x.status, x.out = status, appendJSON(x.out, v)
}

// actor returns the caller as the actor of a change.
func (x *exchange) actor() router.Actor {
	return router.Actor{Principal: x.principal, RequestID: x.requestID}
}

// pathID returns the UUID in the path. A malformed UUID is answered with 404.
func (x *exchange) pathID() (string, error) {
	id, ok := uuidOf(x.r.PathValue("id"))
	if !ok {
		return "", errNotFound
	}
	return id, nil
}

// stamp formats a time as RFC 3339; the zero time is null.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format(time.RFC3339Nano))
}

// resetWord returns the interval's name in requests and replies; a lifetime is null.
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
