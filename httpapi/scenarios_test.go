package httpapi_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/signalbox/signalbox/httpapi"
	"github.com/signalbox/signalbox/router"
)

// refuseFor is an interceptor that refuses every request and asks to retry after wait.
func refuseFor(wait time.Duration) option {
	return intercept(func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) {
			return nil, &router.Error{Class: router.RateLimitExceeded, RetryAfter: wait}
		}
	})
}

func refuse(class router.Class, message string) option {
	return intercept(func(router.Decider) router.Decider {
		return func(context.Context, *router.Call) (*router.Result, error) {
			return nil, &router.Error{Class: class, Message: message, Err: errCanary, RetryAfter: 1500 * time.Millisecond}
		}
	})
}

func intercept(i router.Interceptor) option {
	return func(_ *httpapi.Config, c *router.Config) { c.Interceptors = append(c.Interceptors, i) }
}

func sized(limit int64) option {
	return func(c *httpapi.Config, _ *router.Config) { c.MaxBytes = limit }
}

const (
	retryAfter = "Retry-After"
	provider   = "Provider returned error"
	invalid    = "Invalid request parameters"
)

// scenarios returns every message and status of POST /systemone and the public routes,
// each produced by the component that produces it in a program.
func scenarios() []scenario {
	return []scenario{
		{name: "answered", status: 200, want: map[string]any{
			"model": "acme/judge-20260901", "provider": "Ant Cloud", "answers.refund.noul": 0.97, "answers.desk.choice": "billing",
			"answers.heat.score": 0.0, "answers.heat.legend.2": "furious", "usage.input_tokens": 310.0, "usage.cost": 0.00001402,
		}, absent: []string{"router_metadata", "error", "user_id"}},
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication", absent: []string{"user_id", "detail"}, headers: map[string]string{"Www-Authenticate": "Bearer"}},
		{name: "empty bearer", key: "-", header: map[string]string{"Authorization": "Bearer "}, status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "another scheme", key: "-", header: map[string]string{"Authorization": "Basic eDp5"}, status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "unknown key", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication", absent: []string{"user_id"}},
		{name: "malformed key", key: "malformed", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "expired key", key: "expired", status: 401, message: "API key expired", kind: "authentication", absent: []string{"user_id"}},
		{name: "disabled key", key: "disabled", status: 401, message: "API key disabled", kind: "authentication"},
		{name: "management key", key: "management", status: 403, message: "Management keys cannot be used for inference", kind: "permission_denied", want: map[string]any{"user_id": "user_2"}},
		{name: "no credits", options: []option{refuse(router.PaymentRequired, "")}, status: 402, message: "Insufficient credits", kind: "payment_required", want: map[string]any{"user_id": "user_1"}},
		{name: "no credits with a link", options: []option{refuse(router.PaymentRequired, ""), func(c *httpapi.Config, _ *router.Config) { c.CreditsURL = "https://x.example/credits" }}, status: 402, message: "Insufficient credits. Add more at https://x.example/credits", kind: "payment_required"},
		{name: "key limit", options: []option{refuse(router.PaymentRequired, "Key limit exceeded"), func(c *httpapi.Config, _ *router.Config) { c.CreditsURL = "https://x.example" }}, status: 402, message: "Key limit exceeded", kind: "payment_required"},
		{name: "policy", key: "anonymous", options: []option{refuse(router.PermissionDenied, "Request blocked by content filter: [X]")}, status: 403, message: "Request blocked by content filter: [X]", kind: "permission_denied", absent: []string{"user_id"}},
		{name: "rate limit of a policy", options: []option{refuse(router.RateLimitExceeded, "")}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded", headers: map[string]string{retryAfter: "2"}},
		{name: "rate limit for very long", options: []option{refuseFor(math.MaxInt64)}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded", headers: map[string]string{retryAfter: "3600"}},
		{name: "rate limit for no time at all", options: []option{refuseFor(-time.Second)}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded", headers: map[string]string{retryAfter: ""}},
		{name: "idempotency key of another request", options: []option{refuse(router.Conflict, "Idempotency-Key was used for another request")}, status: 409, message: "Idempotency-Key was used for another request", kind: "conflict"},
		{name: "server", options: []option{refuse(router.Server, "secret "+canary)}, status: 500, message: "Internal Server Error", kind: "server", headers: map[string]string{retryAfter: ""}},
		{name: "unknown class", options: []option{refuse("odd", canary)}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "panic", also: func(g *rig) { g.ant.panics = true }, status: 500, message: "Internal Server Error", kind: "server"},

		{name: "unknown model", body: strings.Replace(sound, "acme/judge", "acme/nothing", 1), status: 400, message: "acme/nothing is not a valid model ID", kind: "invalid_request"},
		{name: "line feed in a model", body: strings.Replace(sound, "acme/judge", `a\r\nX-Evil: 1`, 1), status: 400, message: "a\r\nX-Evil: 1 is not a valid model ID", kind: "invalid_request", headers: map[string]string{"X-Evil": ""}},
		{name: "every problem", body: `{"model":"acme/judge","state":3,"questions":{},"provider":{"orderr":[]}}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{
			"error.metadata.issues.0.path": "provider.orderr", "error.metadata.issues.1.path": "state", "error.metadata.issues.2.path": "questions",
		}},
		{name: "no model left", body: with(`"provider":{"only":["nobody"]}`), status: 404, message: "No endpoints found for acme/judge", kind: "not_found", want: map[string]any{"error.metadata.excluded_by": []any{"allowed_providers"}}},
		{name: "nobody serves it", body: strings.Replace(sound, "acme/judge", "acme/unserved", 1), status: 404, message: "No endpoints found for acme/unserved", kind: "not_found", want: map[string]any{"error.metadata.excluded_by": []any{}}},
		{name: "switched off", body: strings.Replace(sound, "acme/judge", "acme/idle", 1), status: 503, message: "Service temporarily unavailable", kind: "no_capacity"},
		{name: "preset", body: with(`"preset":"x"`), status: 404, message: "Resource not found", kind: "not_found"},

		{name: "caller's fault", ant: []error{upstream(400, router.InvalidRequest, 0)}, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.provider_name": "Ant Cloud", "error.metadata.previous_errors": []any{}}},
		{name: "too large everywhere", ant: []error{upstream(413, router.PayloadTooLarge, 0)}, bee: []error{upstream(413, router.PayloadTooLarge, 0)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
		{name: "limited everywhere", ant: []error{upstream(429, router.RateLimitExceeded, 7*time.Second)}, bee: []error{upstream(429, router.RateLimitExceeded, 2100*time.Millisecond)}, status: 429, message: "Rate limit exceeded", kind: "rate_limit_exceeded", headers: map[string]string{retryAfter: "3"}, want: map[string]any{
			"error.metadata.previous_errors.0.provider": "ant", "error.metadata.previous_errors.0.code": "rate_limit_exceeded", "error.metadata.previous_errors.0.status": 429.0, "error.metadata.provider_name": "Bee Two",
		}},
		{name: "overloaded everywhere", ant: []error{upstream(529, router.ProviderOverloaded, 0)}, bee: []error{upstream(529, router.ProviderOverloaded, 9e18)}, status: 529, message: provider, kind: "provider_overloaded", headers: map[string]string{retryAfter: "3600"}},
		{name: "unavailable everywhere", ant: []error{upstream(503, router.NoCapacity, time.Nanosecond)}, bee: []error{upstream(503, router.NoCapacity, 0)}, status: 503, message: "Service temporarily unavailable", kind: "no_capacity", headers: map[string]string{retryAfter: "1"}},
		{name: "late everywhere", ant: []error{upstream(504, router.Timeout, 0)}, bee: []error{upstream(0, router.Timeout, 0)}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout", headers: map[string]string{retryAfter: ""}},
		{name: "broken everywhere", ant: []error{upstream(500, "", 0)}, bee: []error{errCanary}, status: 502, message: provider, kind: "provider_unavailable", headers: map[string]string{retryAfter: ""}},
		{name: "mixed", ant: []error{upstream(0, "", time.Second)}, bee: []error{upstream(429, router.RateLimitExceeded, 3*time.Second)}, status: 502, message: provider, kind: "provider_unavailable", headers: map[string]string{retryAfter: ""}, absent: []string{"error.metadata.previous_errors.0.status"}},
		{name: "the second answers", ant: []error{upstream(500, "", 0)}, status: 200, want: map[string]any{"provider": "Bee Two"}},

		{name: "dry run", header: map[string]string{"X-Router-Dry-Run": "true"}, status: 200, want: map[string]any{
			"dry_run": true, "router_metadata.attempts": []any{}, "router_metadata.endpoints.available.0.endpoint": "ant/eu",
			"router_metadata.endpoints.available.0.selected": false,
		}, absent: []string{"answers", "usage", "router_metadata.endpoints.available.0.refused_by"}},
		{name: "dry run that finds nothing", header: map[string]string{"X-Router-Dry-Run": "TRUE"}, body: with(`"provider":{"only":["x"]}`), status: 404, message: "No endpoints found for acme/judge", kind: "not_found", want: map[string]any{"router_metadata.endpoints.excluded.0.reason": "allowed_providers"}},
		{name: "no dry run", header: map[string]string{"X-Router-Dry-Run": "false"}, status: 200, absent: []string{"dry_run"}},
		{name: "perhaps a dry run", header: map[string]string{"X-Router-Dry-Run": "1"}, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "dry-run"}},
		{name: "two credentials", header: map[string]string{"X-Api-Key": "another"}, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "authorization"}},
		{name: "body is no JSON", body: "hello", status: 400, message: invalid, kind: "invalid_request"},
		{name: "empty body", body: " ", status: 400, message: invalid, kind: "invalid_request"},
		{name: "wrong content type", header: map[string]string{"Content-Type": "text/plain"}, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "content-type"}},
		{name: "encoded body", header: map[string]string{"Content-Encoding": "gzip"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "content type with parameters", header: map[string]string{"Content-Type": "Application/JSON; charset=utf-8"}, status: 200},
		{name: "body at the limit", options: []option{sized(int64(len(sound)))}, status: 200},
		{name: "body over the limit", options: []option{sized(int64(len(sound)) - 1)}, status: 413, message: "Request payload too large", kind: "payload_too_large"},
		{name: "long session in a header", header: map[string]string{"X-Session-Id": strings.Repeat("é", 257)}, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "session_id"}},

		{name: "unknown path", path: "/nothing", key: "malformed", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "wrong method", method: "GET", key: "malformed", status: 405, message: "Method not allowed", kind: "method_not_allowed", headers: map[string]string{"Allow": "POST"}},

		{name: "models", method: "GET", path: "/models", key: "-", status: 200, want: map[string]any{"total_count": 2.0, "data.0.id": "acme/judge", "links.next": nil}},
		{name: "models with a wrong key", method: "GET", path: "/models", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "models with a management key", method: "GET", path: "/models", key: "management", status: 200},
		{name: "models with a wrong page", method: "GET", path: "/models?limit=0", key: "-", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "limit"}},
		{name: "models cannot be posted", path: "/models", status: 405, message: "Method not allowed", kind: "method_not_allowed", headers: map[string]string{"Allow": "GET, HEAD"}},
		{name: "models without keys", method: "GET", path: "/models", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "models that put out what there is not", method: "GET", path: "/models?output_modalities=text,image", key: "-", status: 200, want: map[string]any{"total_count": 0.0, "data": []any{}}},
		{name: "models of a category", method: "GET", path: "/models?category=Finance", key: "-", status: 200, want: map[string]any{"total_count": 1.0, "data.0.id": "acme/judge"}},
		{name: "models of two categories", method: "GET", path: "/models?category=finance&category=x", key: "-", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "category"}},
		{name: "count", method: "GET", path: "/models/count?limit=x", key: "-", status: 200, want: map[string]any{"data": map[string]any{"count": 2.0}}},
		{name: "count of a category", method: "GET", path: "/models/count?category=finance&output_modalities=all", status: 200, want: map[string]any{"data.count": 1.0}},
		{name: "count of nothing", method: "GET", path: "/models/count?output_modalities=", key: "-", status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "output_modalities"}},
		{name: "count with a wrong key", method: "GET", path: "/models/count", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "count cannot be posted", path: "/models/count", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "count without keys", method: "GET", path: "/models/count", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "count with slow keys", method: "GET", path: "/models/count", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "model", method: "GET", path: "/model/acme/judge", key: "-", status: 200, want: map[string]any{"data.id": "acme/judge", "data.links.details": "/models/acme/judge/endpoints"}},
		{name: "model by an alias", method: "GET", path: "/model/~acme/judge-latest", status: 200, want: map[string]any{"data.id": "acme/judge"}},
		{name: "model that nobody serves", method: "GET", path: "/model/acme/unserved", key: "-", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "no model", method: "GET", path: "/model/acme/x", key: "-", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "model with a wrong key", method: "GET", path: "/model/acme/judge", key: "expired", status: 401, message: "API key expired", kind: "authentication"},
		{name: "model with two credentials", method: "GET", path: "/model/acme/judge", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "model cannot be put", method: "PUT", path: "/model/acme/judge", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "model without keys", method: "GET", path: "/model/acme/judge", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "model with slow keys", method: "GET", path: "/model/acme/judge", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "endpoints", method: "GET", path: "/models/acme/judge/endpoints", key: "-", status: 200, want: map[string]any{"data.endpoints.0.tag": "ant/eu"}},
		{name: "endpoints of an alias", method: "GET", path: "/models/~acme/judge-latest/endpoints", status: 200, want: map[string]any{"data.id": "acme/judge"}},
		{name: "endpoints of no model", method: "GET", path: "/models/acme/x/endpoints", key: "-", status: 404, message: "Resource not found", kind: "not_found"},
		{name: "endpoints with a wrong key", method: "GET", path: "/models/acme/judge/endpoints", key: "expired", status: 401, message: "API key expired", kind: "authentication"},
		{name: "endpoints cannot be deleted", method: "DELETE", path: "/models/acme/judge/endpoints", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "endpoints without keys", method: "GET", path: "/models/acme/judge/endpoints", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "providers", method: "GET", path: "/providers", key: "-", status: 200, want: map[string]any{"data.0.slug": "ant", "data.0.privacy_policy_url": "https://ant.example/privacy", "data.1.privacy_policy_url": nil}},
		{name: "providers with a wrong key", method: "GET", path: "/providers", key: "disabled", status: 401, message: "API key disabled", kind: "authentication"},
		{name: "providers cannot be put", method: "PUT", path: "/providers", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "providers without keys", method: "GET", path: "/providers", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},

		{name: "models with slow keys", method: "GET", path: "/models", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "endpoints with slow keys", method: "GET", path: "/models/acme/judge/endpoints", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "providers with slow keys", method: "GET", path: "/providers", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "endpoints with two credentials", method: "GET", path: "/models/acme/judge/endpoints", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "providers with two credentials", method: "GET", path: "/providers", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},

		{name: "dual errors", key: "-", options: []option{func(c *httpapi.Config, _ *router.Config) { c.DualErrors = true }}, status: 401, message: "Missing Authentication header", kind: "authentication", want: map[string]any{"detail.error_type": "authentication", "detail.message": "Missing Authentication header"}},
	}
}

// alphaScenarios send decisions to the alpha surface, which replies as /systemone does.
func alphaScenarios() []scenario {
	var list []scenario
	for _, s := range scenarios() {
		if s.path == "" {
			s.mount, s.path = "/api/alpha", "/decisions"
			list = append(list, s)
		}
	}
	return append(list, scenario{name: "nothing else", mount: "/api/alpha", method: "GET", path: "/models", status: 404, message: "Resource not found", kind: "not_found"})
}

// nativeScenarios covers what differs on the native surface, and each of its statuses
// once.
func nativeScenarios() []scenario {
	nulls := `{"model":"acme/judge","state":null,"questions":{"a":{"type":"noul"},"b":{"type":"score","instructions":null,"criteria":["x",null]},` +
		`"c":{"type":"noul","instructions":null,"criteria":{"true":"x"}}}}`
	both := func(status int, class router.Class) scenario {
		return scenario{
			name: string(class), ant: []error{upstream(status, class, 0)}, bee: []error{upstream(status, class, 0)},
			status: status, message: statusText(status), kind: string(class),
		}
	}
	list := []scenario{
		{name: "nulls", body: nulls, status: 200, want: map[string]any{"answers.b.legend.0": "x"}, absent: []string{"answers.b.legend.1"}},
		{name: "no key", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "management key", key: "management", status: 403, message: "Management keys cannot be used for inference", kind: "permission_denied"},
		{name: "no credits", options: []option{refuse(router.PaymentRequired, "")}, status: 402, message: "Insufficient credits", kind: "payment_required"},
		{name: "server", options: []option{refuse(router.Server, "")}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "idempotency key of another request", options: []option{refuse(router.Conflict, "")}, status: 409, message: "Resource conflict. Please try again later.", kind: "conflict"},
		{name: "nothing left", body: with(`"provider":{"only":["x"]}`), status: 404, message: "No endpoints found for acme/judge", kind: "not_found"},
		{name: "bad body", body: "[]", status: 400, message: invalid, kind: "invalid_request"},
		both(413, router.PayloadTooLarge), both(429, router.RateLimitExceeded), both(502, router.ProviderUnavailable),
		both(503, router.NoCapacity), both(524, router.Timeout), both(529, router.ProviderOverloaded),
		{name: "wrong method", method: "PATCH", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "models", method: "GET", path: "/models", key: "-", status: 200, want: map[string]any{
			"models.0.name": "acme/judge", "models.0.release_date": "2026-09-01", "models.1.release_date": "", "data.0.id": "acme/judge",
		}},
		{name: "models with a wrong key", method: "GET", path: "/models", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "models with a wrong page", method: "GET", path: "/models?offset=-1", status: 400, message: invalid, kind: "invalid_request"},
		{name: "models without keys", method: "GET", path: "/models", options: []option{brokenKeys}, status: 500, message: "Internal Server Error", kind: "server"},
		{name: "models with slow keys", method: "GET", path: "/models", options: []option{slowKeys}, status: 524, message: "Request timed out. Please try again later.", kind: "timeout"},
		{name: "models cannot be posted", path: "/models", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "nothing else", method: "GET", path: "/providers", status: 404, message: "Resource not found", kind: "not_found"},
	}
	for i := range list {
		list[i].mount = "/v1"
	}
	return list
}

func statusText(status int) string {
	return map[int]string{
		413: "Request payload too large", 429: "Rate limit exceeded", 502: provider, 503: "Service temporarily unavailable",
		524: "Request timed out. Please try again later.", 529: provider,
	}[status]
}

// with adds a member to the sound request.
func with(member string) string { return "{" + member + "," + sound[1:] }

// storeDown fails every check of a key.
type storeDown struct{ cause error }

func (s storeDown) Authenticate(context.Context, router.Secret) (router.Principal, error) {
	return router.Principal{}, fmt.Errorf("the store is down: %s: %w", canary, s.cause)
}

func brokenKeys(c *httpapi.Config, _ *router.Config) { c.Keys = storeDown{errCanary} }

func slowKeys(c *httpapi.Config, _ *router.Config) { c.Keys = storeDown{context.DeadlineExceeded} }
