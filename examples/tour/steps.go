package main

import "time"

// step is one request of the tour.
type step struct {
	title        string        // heading, printed before the first step of a part
	wait         time.Duration // by which the clock advances before the request
	key          string        // name of the key; "" is the management key
	method, path string
	body         string
	show         string            // paths of the reply to print
	save         map[string]string // paths of the reply to save, by name
}

const (
	ask       = `{"model": "similarity-en-1", "state": "I was charged twice", "questions": {"desk": {"type": "choice", "instructions": "Which team?", "criteria": {"billing": "charges and refunds", "technical": "something is broken"}}}}`
	askPreset = `{"preset": "support", "state": "I was charged twice", "questions": {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}}`
	askMail   = `{"model": "similarity-en-1", "state": "Write to ann@example.org", "questions": {"desk": {"type": "choice", "instructions": "Which team?", "criteria": {"billing": "charges and refunds", "technical": "something is broken"}}}}`
)

func steps() []step {
	return []step{
		{title: "Who is there", method: "GET", path: "/organization/members", show: "total_count data.0.id data.0.role data.1.id data.1.role"},
		{method: "GET", path: "/workspaces", show: "total_count data.0.slug data.1.slug"},
		{method: "GET", path: "/organization/settings", show: "data"},
		{method: "PATCH", path: "/organization/settings", body: `{"is_filtered_model_catalog_enabled": true}`, show: "data"},
		{method: "GET", path: "/models", key: "inference", show: "total_count data.0.id data.0.pricing.request"},

		{title: "A key of two cents a day", method: "POST", path: "/keys", body: `{"name": "web", "limit": 0.02, "limit_reset": "daily"}`, show: "data.name data.limit data.limit_reset data.limit_remaining", save: map[string]string{"web": "key", "web_hash": "data.hash"}},
		{method: "POST", path: "/systemone", key: "web", body: ask, show: "answers.desk.choice provider usage.cost"},
		{method: "POST", path: "/systemone", key: "web", body: ask, show: "answers.desk.choice usage.cost"},
		{method: "POST", path: "/systemone", key: "web", body: ask},
		{method: "GET", path: "/key", key: "web", show: "data.usage_daily data.limit_remaining data.is_management_key"},
		{method: "PATCH", path: "/keys/{web_hash}", body: `{"limit": 5, "limit_reset": "monthly"}`, show: "data.limit data.limit_reset data.usage_monthly data.limit_remaining"},
		{method: "PATCH", path: "/keys/{web_hash}", body: `{}`},
		{method: "POST", path: "/systemone", body: ask},

		{title: "A budget for the workspace", method: "PUT", path: "/workspaces/default/budgets/monthly", body: `{"limit_usd": 0.03}`, show: "data.limit_usd data.reset_interval"},
		{method: "PUT", path: "/workspaces/default/budgets/weekly", body: `{"limit_usd": 600}`},
		{method: "POST", path: "/systemone", key: "web", body: ask, show: "usage.cost"},
		{method: "POST", path: "/systemone", key: "web", body: ask},
		{method: "DELETE", path: "/workspaces/default/budgets/monthly", show: "deleted"},
		{method: "POST", path: "/workspaces/lab/members/add", body: `{"user_ids": ["user_ben"]}`, show: "added_count data.0.role"},

		{title: "A preset", method: "POST", path: "/presets/support/chat/completions", body: `{"model": "signalbox/similarity-en-1", "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}]}`, show: "data.slug data.designated_version.version data.designated_version.system_prompt"},
		{method: "POST", path: "/systemone", key: "web", body: askPreset, show: "model usage.cost"},

		{title: "A guardrail for the key", method: "POST", path: "/guardrails", body: `{"name": "no addresses", "content_filter_builtins": [{"slug": "email", "action": "block"}]}`, show: "data.name data.content_filter_builtins.0.label", save: map[string]string{"guardrail": "data.id"}},
		{method: "POST", path: "/systemone", key: "web", body: askMail, show: "usage.cost"},
		{method: "POST", path: "/guardrails/{guardrail}/assignments/keys", body: `{"key_hashes": ["{web_hash}"]}`, show: "assigned_count"},
		{method: "POST", path: "/systemone", key: "web", body: askMail},
		{method: "GET", path: "/guardrails/assignments/keys", show: "total_count data.0.key_name"},

		{title: "A credential of one's own", method: "POST", path: "/byok", body: `{"provider": "cloud", "name": "ours", "key": "provider-secret-0123456789"}`, show: "data.provider data.name data.is_fallback", save: map[string]string{"credential": "data.id"}},
		{method: "POST", path: "/systemone", key: "web", body: ask, show: "usage.cost"},
		{method: "GET", path: "/keys/{web_hash}", show: "data.usage data.byok_usage"},
		{method: "DELETE", path: "/byok/{credential}", show: "deleted"},

		{title: "The next day", wait: 24 * time.Hour, method: "GET", path: "/activity", show: "data.0.date data.0.model data.0.requests data.0.usage data.0.byok_usage_inference"},
		{method: "GET", path: "/credits", show: "data.is_prepaid data.total_usage"},
		{method: "DELETE", path: "/keys/{web_hash}", show: "deleted"},
		{method: "POST", path: "/systemone", key: "web", body: ask},
		{method: "GET", path: "/activity?api_key_hash={web_hash}", show: "data.0.requests data.0.usage"},
	}
}
