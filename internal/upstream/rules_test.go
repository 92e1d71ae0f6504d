package upstream_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signalbox/signalbox/internal/upstream"
	"github.com/signalbox/signalbox/router"
)

func TestClass(t *testing.T) {
	want := map[int]router.Class{
		400: router.InvalidRequest, 422: router.InvalidRequest, 413: router.PayloadTooLarge, 429: router.RateLimitExceeded,
		503: router.NoCapacity, 529: router.ProviderOverloaded, 408: router.Timeout, 504: router.Timeout, 524: router.Timeout,
	}
	for status := 100; status < 1000; status++ {
		expected, ok := want[status]
		if !ok {
			expected = router.ProviderUnavailable
		}
		assert.Equal(t, expected, upstream.Class(status), status)
	}
}

func TestMatch(t *testing.T) {
	rules := []upstream.Rule{
		{Status: 400, Message: "unknown model", Class: router.ProviderUnavailable},
		{Code: "5021", Class: router.PayloadTooLarge},
		{Status: 400, Code: "max_tokens_exceeded", Class: router.PayloadTooLarge},
		{Status: 400, Code: "both", Message: "and this", Class: router.Timeout},
	}
	for _, c := range []struct {
		name, body string
		status     int
		want       router.Class
	}{
		{"message of detail", `{"detail":{"error_type":"invalid_request_error","message":"Unknown model: nope"}}`, 400, router.ProviderUnavailable},
		{"message of error", `{"error":{"code":400,"message":"sorry, UNKNOWN MODEL nope"}}`, 400, router.ProviderUnavailable},
		{"error that is a text", `{"error":"unknown model"}`, 400, router.ProviderUnavailable},
		{"a mere text", `"unknown model"`, 400, router.ProviderUnavailable},
		{"another status", `{"error":{"message":"unknown model"}}`, 404, ""},
		{"a code without a message", `{"detail":{"error_type":"max_tokens_exceeded"}}`, 400, router.PayloadTooLarge},
		{"a code with a null message", `{"detail":{"error_type":"max_tokens_exceeded","message":null}}`, 400, router.PayloadTooLarge},
		{"a part of a code", `{"detail":{"error_type":"max_tokens_exceeded_not"}}`, 400, ""},
		{"a number in a list", `{"success":false,"errors":[{"code":1},{"code":5021,"message":"x"}]}`, 413, router.PayloadTooLarge},
		{"both", `{"error":{"type":"both","message":"this AND THIS"}}`, 400, router.Timeout},
		{"both, but apart", `{"errors":[{"type":"both"},{"message":"and this"}]}`, 400, ""},
		{"only one", `{"error":{"type":"both","message":"this"}}`, 400, ""},
		{"an echo of the request", `{"detail":[{"loc":["body"],"msg":"Field required","input":{"state":"unknown model","message":"unknown model"}}]}`, 400, ""},
		{"elsewhere", `{"request":{"error":{"message":"unknown model"}}}`, 400, ""},
		{"too deep", `{"error":{"error":{"error":{"error":{"message":"unknown model"}}}}}`, 400, ""},
		{"a member of the wrong type", `{"error":{"code":{"a":1},"message":["unknown model"]}}`, 400, ""},
		{"not JSON", `unknown model`, 400, ""},
		{"cut", `{"error":{"message":"unknown model"`, 400, ""},
		{"HTML", `<html>unknown model</html>`, 400, ""},
		{"empty", ``, 400, ""},
		{"null", `null`, 400, ""},
		{"many", `{"errors":[` + strings.Repeat(`{"code":1},`, 1000) + `{"code":5021}]}`, 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := upstream.Match(rules, c.status, []byte(c.body))
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want != "", ok)
		})
	}
	_, ok := upstream.Match(nil, 400, []byte(`{"error":"unknown model"}`))
	assert.False(t, ok)
}

func FuzzMatch(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"code":5021,"message":"m"}}`, `{"detail":[{"msg":"m","type":"t"}]}`, `{"errors":[[["x"]]]}`, `"m"`, `{`, `[`, `{"a"`, `{"a":`, "\"\\",
	} {
		f.Add([]byte(seed), 400)
	}
	rules := upstream.CommonRules()
	f.Fuzz(func(t *testing.T, body []byte, status int) {
		class, ok := upstream.Match(rules, status, body)
		if ok != (class != "") {
			t.Fatal("a match is a class")
		}
		// The walkers must end without a panic on anything.
		for name, value := range upstream.Members(body) {
			_, _ = upstream.String(name), upstream.String(value)
			for item := range upstream.Elements(value) {
				_, _ = upstream.Number(item)
			}
		}
		upstream.Member(body, "a")
		for item := range upstream.Elements(body) {
			upstream.Member(item, "a")
		}
	})
}
