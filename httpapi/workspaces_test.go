package httpapi_test

import (
	"strings"
)

// organizationAnswers are the successful replies of the organization's routes, and
// refusals with further members.
func organizationAnswers() []scenario {
	const rule = "Budget limits must be strictly decreasing as scope narrows: the monthly limit ($500.00) must be greater than the weekly limit ($600.00)."
	notFound := func(method, path, body string, options ...option) scenario {
		return scenario{method: method, path: path, body: body, options: options, status: 404, message: "Resource not found", kind: "not_found"}
	}
	return []scenario{
		{method: "GET", path: "/organization/settings", status: 200, want: map[string]any{"data": map[string]any{"is_filtered_model_catalog_enabled": false}}},
		{method: "PATCH", path: "/organization/settings", body: `{"is_filtered_model_catalog_enabled":true,"other":1}`, status: 200, want: map[string]any{"data": map[string]any{"is_filtered_model_catalog_enabled": true}}},
		{method: "PATCH", path: "/organization/settings", body: `{"other":1}`, status: 400, message: "No update fields provided", kind: "invalid_request"},
		notFound("GET", "/organization/settings", "", account("pat")),
		notFound("PATCH", "/organization/settings", `{"is_filtered_model_catalog_enabled":true}`, account("pat")),
		notFound("GET", "/organization/members", "", account("pat")),
		{method: "GET", path: "/organization/members", status: 200, want: map[string]any{
			"total_count": 2.0, "data.0": map[string]any{"id": "user_2", "email": "u@acme.example", "first_name": "Una", "last_name": nil, "role": "org:admin"},
			"data.1.role": "org:member",
		}},
		{method: "GET", path: "/organization/members?offset=1&limit=1", status: 200, want: map[string]any{"total_count": 2.0, "data.0.id": "bob"}, absent: []string{"data.1"}},
		{method: "GET", path: "/organization/members?offset=9", status: 200, want: map[string]any{"total_count": 2.0, "data": []any{}}},
		{method: "GET", path: "/credits", status: 200, want: map[string]any{"data": map[string]any{"total_credits": 12.5, "total_usage": 0.0, "is_prepaid": true}}},
		{method: "GET", path: "/credits", options: []option{account("pat")}, status: 200, want: map[string]any{"data": map[string]any{"total_credits": 9e9, "total_usage": 0.0, "is_prepaid": false}}},

		{method: "GET", path: "/workspaces", status: 200, want: map[string]any{"total_count": 3.0, "data.0.slug": "default", "data.1.slug": "east", "data.2.slug": "empty"}},
		{method: "GET", path: "/workspaces", options: []option{account("pat")}, status: 200, want: map[string]any{"total_count": 1.0}},
		{method: "POST", path: "/workspaces", body: `{"name":"N","slug":"n-1","id":"x","default_text_model":"m"}`, status: 201, want: map[string]any{
			"data.name": "N", "data.slug": "n-1", "data.created_by": "user_2", "data.include_byok_in_budgets": false, "data.io_logging_sampling_rate": 0.0,
			"data.is_data_discount_logging_enabled": false, "data.is_observability_broadcast_enabled": false, "data.is_observability_io_logging_enabled": false,
		}, absent: []string{"data.description", "data.default_provider_sort", "data.default_text_model", "data.default_image_model", "data.io_logging_api_key_ids"}},
		{method: "GET", path: "/workspaces/east", status: 200, want: map[string]any{"data.name": "EAST"}},
		{method: "PATCH", path: "/workspaces/east", body: `{"default_provider_sort":"price"}`, status: 200, want: map[string]any{"data.default_provider_sort": "price", "data.name": "EAST"}},
		{method: "PATCH", path: "/workspaces/east", body: `{"default_text_model":"m"}`, status: 400, message: "No update fields provided", kind: "invalid_request"},
		{method: "DELETE", path: "/workspaces/empty", status: 200, want: map[string]any{"deleted": true}},
		{method: "DELETE", path: "/workspaces/default", status: 400, message: invalid, kind: "invalid_request"},
		{method: "DELETE", path: "/workspaces/east", status: 400, message: invalid, kind: "invalid_request"},
		notFound("GET", "/workspaces/EAST", ""),
		notFound("GET", "/workspaces/00000000-0000-0000-0000-0000000000ff", ""),

		{method: "GET", path: "/workspaces/default/members", status: 200, want: map[string]any{"total_count": 2.0, "data.0.role": "admin", "data.1.user_id": "bob", "data.1.role": "member"}},
		{method: "GET", path: "/workspaces/east/members", status: 200, want: map[string]any{"total_count": 1.0, "data.0.user_id": "bob"}},
		{method: "POST", path: "/workspaces/east/members/add", body: `{"user_ids":["bob","user_2"]}`, status: 200, want: map[string]any{"added_count": 1.0, "data.0.user_id": "bob", "data.1.role": "admin"}, absent: []string{"data.2"}},
		{method: "POST", path: "/workspaces/east/members/remove", body: `{"user_ids":["user_2"]}`, status: 200, want: map[string]any{"removed_count": 0.0}},
		{method: "POST", path: "/workspaces/east/members/remove", body: `{"user_ids":["bob"]}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": "user_ids.0"}},

		{method: "GET", path: "/workspaces/east/budgets", status: 200, want: map[string]any{
			"include_byok_in_budgets": false, "data.0.reset_interval": "monthly", "data.0.limit_usd": 500.0, "data.1.limit_usd": 50.5,
		}},
		{method: "GET", path: "/workspaces/east/budgets/daily", status: 200, want: map[string]any{"data.reset_interval": "daily", "include_byok_in_budgets": false}},
		notFound("GET", "/workspaces/east/budgets/weekly", ""),
		notFound("GET", "/workspaces/east/budgets/hourly", ""),
		notFound("PUT", "/workspaces/east/budgets/hourly", `{"limit_usd":1}`),
		notFound("DELETE", "/workspaces/east/budgets/DAILY", ""),
		{name: "R85a", method: "PUT", path: "/workspaces/east/budgets/weekly", body: `{"limit_usd":600}`, status: 400, message: invalid, kind: "invalid_request", want: map[string]any{
			"error.metadata.issues.0.path": "limit_usd", "error.metadata.issues.0.message": rule,
		}},
		{method: "PUT", path: "/workspaces/east/budgets/weekly", body: `{"limit_usd":200.005,"include_byok_in_budgets":true}`, status: 200, want: map[string]any{"data.limit_usd": 200.005, "include_byok_in_budgets": true}},
		{method: "DELETE", path: "/workspaces/east/budgets/daily", status: 200, want: map[string]any{"deleted": true}},
		{name: "R85e", method: "DELETE", path: "/workspaces/east/budgets/weekly", status: 200, want: map[string]any{"deleted": true}},
	}
}

// badWorkspaces are invalid bodies by route.
func badWorkspaces() []scenario {
	var list []scenario
	bad := func(method, path, body, issue string) {
		list = append(list, scenario{
			name: method + " " + path + " " + body, method: method, path: path, body: body, key: "management", options: []option{account("acme")},
			status: 400, message: invalid, kind: "invalid_request", want: map[string]any{"error.metadata.issues.0.path": issue},
		})
	}
	for body, issue := range map[string]string{
		`{"is_filtered_model_catalog_enabled":null}`: "is_filtered_model_catalog_enabled",
		`{"is_filtered_model_catalog_enabled":1}`:    "is_filtered_model_catalog_enabled",
		`{"a":1,"a":2}`: "a",
	} {
		bad("PATCH", "/organization/settings", body, issue)
	}
	for member, issue := range map[string]string{
		`"name":""`: "name", `"name":null`: "name", `"name":3`: "name", `"name":"` + strings.Repeat("n", 101) + `"`: "name",
		`"slug":""`: "slug", `"slug":"A"`: "slug", `"slug":"a--b"`: "slug", `"slug":"` + strings.Repeat("s", 51) + `"`: "slug",
		`"slug":"empty"`: "slug", `"slug":"00000000-0000-0000-0000-000000000001"`: "slug",
		`"description":"` + strings.Repeat("d", 501) + `"`: "description", `"description":1`: "description",
		`"default_provider_sort":"cheap"`: "default_provider_sort", `"default_provider_sort":{}`: "default_provider_sort",
	} {
		bad("PATCH", "/workspaces/east", "{"+member+"}", issue)
		rest := map[string]string{"name": `,"slug":"n"`, "slug": `,"name":"N"`}
		bad("POST", "/workspaces", "{"+member+orText(rest[issue], `,"name":"N","slug":"n"`)+"}", issue)
	}
	bad("POST", "/workspaces", `{}`, "name")
	bad("POST", "/workspaces", `{"name":"N"}`, "slug")
	for _, path := range []string{"/workspaces/east/members/add", "/workspaces/east/members/remove"} {
		many := `{"user_ids":["u"` + strings.Repeat(`,"u"`, 100) + `]}`
		for body, issue := range map[string]string{
			`{}`: "user_ids", `{"user_ids":null}`: "user_ids", `{"user_ids":[]}`: "user_ids", `{"user_ids":"bob"}`: "user_ids",
			`{"user_ids":["bob",3]}`: "user_ids.1", `{"user_ids":[""]}`: "user_ids.0", many: "user_ids",
		} {
			bad("POST", path, body, issue)
		}
	}
	bad("POST", "/workspaces/east/members/add", `{"user_ids":["bob","eve"]}`, "user_ids.1")
	bad("POST", "/workspaces/default/members/remove", `{"user_ids":["bob"]}`, "id")
	for body, issue := range map[string]string{
		`{}`: "limit_usd", `{"limit_usd":null}`: "limit_usd", `{"limit_usd":"5"}`: "limit_usd", `{"limit_usd":-1}`: "limit_usd", `{"limit_usd":0}`: "limit_usd",
		`{"limit_usd":0.0000000001}`: "limit_usd", `{"limit_usd":9000000001}`: "limit_usd", `{"limit_usd":500}`: "limit_usd", `{"limit_usd":50.5}`: "limit_usd",
		`{"limit_usd":100,"include_byok_in_budgets":null}`: "include_byok_in_budgets", `{"limit_usd":100,"include_byok_in_budgets":0}`: "include_byok_in_budgets",
	} {
		bad("PUT", "/workspaces/east/budgets/weekly", body, issue)
	}
	return list
}
