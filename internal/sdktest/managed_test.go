package sdktest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/internal/demo"
	"github.com/signalbox/signalbox/router"
)

// managed is a whole service in front of the scripted upstreams, for pages of the given
// origins. Its clock is set by hand.
type managed struct {
	*signalbox.Service
	seeded demo.Seeded
	url    string
	by     router.Actor
	nano   atomic.Int64
}

func (m *managed) now() time.Time { return time.Unix(0, m.nano.Load()).UTC() }

func newManaged(t *testing.T, origins ...string) *managed {
	t.Helper()
	m := &managed{by: demo.Program()}
	m.nano.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano())
	g := &gateway{lab: newUpstream(t, labScript), careless: newUpstream(t, carelessScript)}
	var err error
	m.Service, err = signalbox.New(signalbox.Config{Catalog: g.catalog(t), Now: m.now, Logger: slog.New(slog.DiscardHandler), API: httpapi.Config{Origins: origins}})
	require.NoError(t, err)
	m.seeded, err = demo.Seed(t.Context(), m.Service)
	require.NoError(t, err)
	server := httptest.NewServer(m.Handler)
	t.Cleanup(server.Close)
	m.url = server.URL + "/api/v1"
	return m
}

// call returns a call with the management key.
func (m *managed) call(name, method string, request object) call {
	return call{Name: name, Key: string(m.seeded.Management), Call: method, Request: request}
}

func (m *managed) run(t *testing.T, calls ...call) map[string]outcome {
	t.Helper()
	return run(t, "openrouter.mjs", m.url, calls)
}

// refused requires that the SDK returned these errors.
func refused(t *testing.T, got map[string]outcome, classes map[string]string) {
	t.Helper()
	for name, want := range classes {
		if assert.NotNil(t, got[name].Error, "%s: %s", name, got[name].Value) {
			err := got[name].Error
			assert.Equal(t, want, fmt.Sprint(err.Class, " ", err.Status), "%s: %s", name, err.Message)
		}
	}
}

// same requires that the SDK returned exactly these members.
func same(t *testing.T, want object, got any) {
	t.Helper()
	text, err := json.Marshal(want)
	require.NoError(t, err)
	parsed, err := json.Marshal(got)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(parsed))
}

// one returns the object of a reply.
func one(t *testing.T, got outcome) object {
	t.Helper()
	return parsed[struct{ Data object }](t, got).Data
}

// page is the reply of a list.
type page struct {
	Data       []object
	TotalCount int
}

// iso formats a time as a Date prints it. The SDK turns some times into Dates, and
// leaves the others as they are in the reply.
func iso(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// dollars returns an amount as the SDK returns it.
func dollars(t *testing.T, v *router.USD) any {
	t.Helper()
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return json.RawMessage(text)
}

const unknownID = "0190f5a0-0000-7000-8000-00000000dead"

// Errors of the SDK, by class and status. If the SDK does not list a status for a
// method, the class is a general one.
const (
	bad          = "BadRequestResponseError 400"
	unknown      = "UnauthorizedResponseError 401"
	barred       = "ForbiddenResponseError 403"
	missing      = "NotFoundResponseError 404"
	badOther     = "OpenRouterDefaultError 400"
	unknownOther = "OpenRouterDefaultError 401"
	barredOther  = "OpenRouterDefaultError 403"
	missingOther = "OpenRouterDefaultError 404"
)
