package httpapi_test

import (
	"net/http"
	"strings"
)

// badKeys has every mistake in a body or a query, with the path of its issue.
func badKeys() []scenario {
	var list []scenario
	bad := func(method, path, body string, issue any) {
		s := scenario{name: method + " " + path + " " + body, method: method, path: path, body: body, status: 400, message: invalid, kind: "invalid_request"}
		if issue != nil {
			s.want = map[string]any{"error.metadata.issues.0.path": issue}
		}
		list = append(list, s)
	}
	for query, issue := range map[string]string{
		"offset=-1": "offset", "offset=x": "offset", "offset=1&offset=1": "offset", "include_disabled=1": "include_disabled", "include_disabled=TRUE": "include_disabled",
		"include_disabled=true&include_disabled=true": "include_disabled", "workspace_id=x": "workspace_id", "workspace_id=": "workspace_id",
	} {
		bad(http.MethodGet, "/keys?"+query, "", issue)
	}
	shared := map[string]string{
		`"name":""`: "name", `"name":null`: "name", `"name":5`: "name", `"name":["a"]`: "name",
		`"limit":-1`: "limit", `"limit":"5"`: "limit", `"limit":1e10`: "limit", `"limit":9000000000.000000001`: "limit", `"limit":0.0000000001`: "limit", `"limit":true`: "limit", `"limit":{}`: "limit",
		`"limit_reset":"yearly"`: "limit_reset", `"limit_reset":"lifetime"`: "limit_reset", `"limit_reset":1`: "limit_reset", `"limit_reset":""`: "limit_reset",
		`"include_byok_in_limit":null`: "include_byok_in_limit", `"include_byok_in_limit":"true"`: "include_byok_in_limit", `"include_byok_in_limit":1`: "include_byok_in_limit",
	}
	create := map[string]string{
		`"expires_at":"2026-11-21T12:01:00Z"`: "expires_at", `"expires_at":"2027-01-01T00:00:00+01:00"`: "expires_at", `"expires_at":"2027-01-01"`: "expires_at", `"expires_at":"2027-01-01T5:00:00Z"`: "expires_at", `"expires_at":"2027-01-01T05:00:00,5Z"`: "expires_at", `"expires_at":5`: "expires_at",
		`"workspace_id":"x"`: "workspace_id", `"workspace_id":null`: "workspace_id", `"creator_user_id":"user_1"`: "creator_user_id", `"creator_user_id":5`: "creator_user_id", `"creator_user_id":""`: "creator_user_id",
		`"external":null`: "external", `"external":"them"`: "external", `"external":{}`: "external.user", `"external":{"user":5}`: "external.user", `"external":{"user":""}`: "external.user", `"external":{"user":"a","api_key":1}`: "external.api_key",
	}
	for member, issue := range shared {
		name := `"name":"n",`
		if issue == "name" {
			name = ""
		}
		bad(http.MethodPost, "/keys", "{"+name+member+"}", issue)
		bad(http.MethodPatch, "/keys/{inference}", `{"odd":1,`+member+`}`, issue)
	}
	for member, issue := range create {
		bad(http.MethodPost, "/keys", `{"name":"n",`+member+"}", issue)
	}
	bad(http.MethodPatch, "/keys/{inference}", `{"disabled":null}`, "disabled")
	bad(http.MethodPatch, "/keys/{inference}", `{"disabled":"no","name":"kept out"}`, "disabled")
	bad(http.MethodPost, "/keys", `{}`, "name")
	for _, body := range []string{"[]", "null", `"x"`, "{", `{"name":"a","name":"b"}`, `{"name":"a"} x`, "\"\xff\""} {
		bad(http.MethodPost, "/keys", body, nil)
		bad(http.MethodPatch, "/keys/{inference}", body, nil)
	}
	for _, body := range []string{`{}`, `{"odd":1,"workspace_id":"x","expires_at":null}`} {
		list = append(list, scenario{name: "no update " + body, method: http.MethodPatch, path: "/keys/{inference}", body: body, status: 400, message: "No update fields provided", kind: "invalid_request"})
	}
	list = append(list, scenario{name: "a new key in no workspace", path: "/keys", body: `{"name":"n","workspace_id":"0190f5a0-0000-7000-8000-000000000001"}`, status: 404, message: "Resource not found", kind: "not_found"})
	return list
}

// keyRefusals has the refusals of a route that do not depend on the request's content.
func keyRefusals(method, path string) []scenario {
	list := []scenario{
		{name: "no header", key: "-", status: 401, message: "Missing Authentication header", kind: "authentication"},
		{name: "unknown key", key: "unknown", status: 401, message: "Invalid API key", kind: "authentication"},
		{name: "expired key", key: "expired", status: 401, message: "API key expired", kind: "authentication"},
		{name: "disabled key", key: "disabled", status: 401, message: "API key disabled", kind: "authentication"},
		{name: "two credentials", key: "management", header: map[string]string{"X-Api-Key": "x"}, status: 400, message: invalid, kind: "invalid_request"},
		{name: "wrong method", method: http.MethodPut, key: "management", status: 405, message: "Method not allowed", kind: "method_not_allowed"},
		{name: "store down", key: "management", options: []option{keysFail(0, errCanary)}, status: 500, message: "Internal Server Error", kind: "server"},
	}
	if path != "/key" {
		list = append(list, scenario{name: "inference key", key: "inference", status: 403, message: "Only management keys can perform this operation", kind: "permission_denied"})
	}
	if strings.Contains(path, "{") {
		for _, hash := range []string{"{unknown}", "{management}", "x", strings.Repeat("F", 64)} {
			list = append(list, scenario{name: "no key " + hash, path: "/keys/" + hash, key: "management", status: 404, message: "Resource not found", kind: "not_found"})
		}
	}
	for i := range list {
		s := &list[i]
		s.name = method + " " + path + " " + s.name
		s.method, s.path, s.body = orText(s.method, method), orText(s.path, path), `{"name":"n"}`
	}
	return list
}
