package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/router"
)

// services gives every rig all services, so that all routes exist.
func services(tb testing.TB) []option {
	tb.Helper()
	return []option{
		withKeys(),
		withPresets(newPresets(tb, nil)),
		withOrganization(newOrganization(tb)),
		withCredentials(newCredentials(tb, nil)),
		newActivity(tb),
		someGuardrails(tb),
	}
}

// allScenarios are the scenarios of every route of all surfaces.
func allScenarios(tb testing.TB) []scenario {
	tb.Helper()
	return slices.Concat(
		scenarios(),
		alphaScenarios(),
		decisionsScenarios(),
		nativeScenarios(),
		keyScenarios(),
		presetScenarios(),
		organizationScenarios(),
		credentialScenarios(tb),
		usableScenarios(tb),
		activityScenarios(tb),
		guardrailScenarios(tb),
		busyScenarios(tb),
		awayScenarios(tb),
	)
}

// busyScenarios sends every route a request above its rate.
func busyScenarios(tb testing.TB) []scenario {
	tb.Helper()
	return everyRoute(tb, "too often", scenario{
		options: []option{busyKeys}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded",
		headers: map[string]string{
			"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795262400001", "Retry-After": "2",
		},
	})
}

// awayScenarios sends every route a request while its store cannot be reached.
func awayScenarios(tb testing.TB) []scenario {
	tb.Helper()
	return everyRoute(tb, "while the storage is away", scenario{
		options: []option{awayKeys}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity",
		headers: map[string]string{"Retry-After": "5"},
	})
}

// everyRoute returns the scenario once for each route, with a key that the route takes.
func everyRoute(tb testing.TB, name string, like scenario) []scenario {
	tb.Helper()
	var list []scenario
	for mount, patterns := range httpapi.Routes(newRig(tb).handler) {
		for _, pattern := range patterns {
			method, path, _ := strings.Cut(pattern, " ")
			s := like
			s.name, s.mount, s.method, s.key = pattern+" "+name, mount, method, "management"
			s.path = regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "x")
			if method == http.MethodPost && (path == "/systemone" || path == "/decisions") {
				s.key = "inference"
			}
			list = append(list, s)
		}
	}
	return list
}

// busy adds an Admitter that refuses every request.
type busy struct{ httpapi.Authenticator }

func (busy) Admit(router.Principal) (func(), error) {
	return nil, &keys.RateLimitError{Limit: 5, Reset: time.Unix(1795262400, 1), RetryAfter: 1200 * time.Millisecond}
}

func awayKeys(c *httpapi.Config, _ *router.Config) { c.Keys = storeDown{router.ErrUnavailable} }

func busyKeys(c *httpapi.Config, _ *router.Config) { c.Keys = busy{c.Keys} }

// managedRefusals has the refusals of a route for management keys that do not depend on
// the request's content. down makes its store fail. Only routes with a body are sent a
// body that is too large.
func managedRefusals(method, path, body string, down option) []scenario {
	list := []scenario{
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "inference key", key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"},
		{name: "two credentials", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "wrong method", method: http.MethodPut, status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "storage down", options: []option{down}, status: 500, message: "Internal Server Error", kind: "server"},
	}
	if body != "" {
		list = append(list, []scenario{
			{name: "no object", body: "[]", status: 400, message: invalid, kind: "invalid_request"},
			{name: "too large", options: []option{sized(5)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
			{name: "no room", options: []option{func(c *httpapi.Config, _ *router.Config) { c.MaxInFlightBytes = 1 }}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		}...)
	}
	for i := range list {
		s := &list[i]
		s.name = method + " " + path + " " + s.name
		s.method, s.path = orText(s.method, method), path
		s.key, s.body = orText(s.key, "management"), orText(s.body, body)
	}
	return list
}
