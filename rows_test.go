package signalbox_test

import "testing"

// rows returns the routing cases about limits and budgets, each as a script for a
// whole service. Keys a and b are Ben's, c is Ada's, and n has no member. All are in
// the default workspace. Its endpoints, a shared one and with a credential an own
// one, have the price that the ask names. It is noon on Saturday, 2026-11-21. The verbs:
//
//	spent a 2026-11-07 4.50 0.25   on that day key a spent 4.50 in credits and 0.25 BYOK
//	now 2026-11-22T00:00:00Z
//	limit a {"limit":8}            PATCH of the key
//	budget monthly 500 [true]      of the workspace, and whether BYOK counts
//	guard a,b 20 daily             a new guardrail for keys, for a member, or the default one
//	credential                     the workspace gets one of its own
//	meanwhile …                    while the next ask is with its upstream
//	refuse                         from now on the upstream leaves q2 unanswered
//	ask a 0.02 [0.005] → 200       the most that the request can cost, what it costs, the status
//	left a 2 · usage a 0.98        limit_remaining and usage of the key
func rows() map[string]string {
	const (
		r84 = `
			budget monthly 500
			budget weekly 200
			budget daily 50`
		keyLimit  = `402 Key limit exceeded`
		monthly   = `403 Workspace monthly budget of $500.00 exceeded. Contact your org admin.`
		weekly    = `403 Workspace weekly budget of $200.00 exceeded. Contact your org admin.`
		daily     = `403 Workspace daily budget of $50.00 exceeded. Contact your org admin.`
		guarded20 = `403 Guardrail daily budget of $20.00 exceeded`
	)
	return map[string]string{
		"R81b": `
			spent a 2026-11-21 6
			limit a {"limit":4}
			left a 0
			ask a 0.01 → ` + keyLimit + `
			limit a {"limit":8}
			left a 2
			ask a 2.01 → ` + keyLimit + `
			ask a 2 → 200
			left a 0
			ask a 0.01 → ` + keyLimit,
		"R82a": `
			limit a {"limit":1}
			spent a 2026-11-21 0.98
			meanwhile ask a 0.001 → ` + keyLimit + `
			ask a 0.02 0.005 → 200
			usage a 0.985
			ask a 0.015 → 200
			ask a 0.001 → ` + keyLimit,
		"R82e": `
			limit a {"limit":1}
			spent a 2026-11-21 0.98
			refuse
			ask a 0.02 → 502 Provider returned error
			usage a 0.98
			left a 0.02`,
		"R83f": `
			limit a {"limit":1}
			spent a 2026-11-21 0.4 0.7
			left a 0.6
			ask a 0.01 → 200
			limit a {"include_byok_in_limit":true}
			left a 0
			ask a 0.01 → ` + keyLimit,
		"R84a": r84 + `
			spent a 2026-11-07 439.99
			spent a 2026-11-19 50
			spent a 2026-11-21 10
			ask a 0.02 → ` + monthly,
		"R84b": r84 + `
			spent a 2026-11-07 100
			spent a 2026-11-19 150
			spent a 2026-11-21 50
			ask a 0.01 → ` + weekly,
		"R84c": r84 + `
			spent a 2026-11-21 50
			now 2026-11-21T23:59:59.999Z
			ask a 0.01 → ` + daily + `
			now 2026-11-22T00:00:00Z
			ask a 50 → 200
			ask a 0.01 → ` + daily,
		"R84d": r84 + `
			spent a 2026-11-07 499.99
			ask a 0.01 → 200
			ask a 0.01 → ` + monthly,
		"R84e": r84 + `
			limit a {"limit":1,"limit_reset":"monthly"}
			spent a 2026-11-07 500
			ask a 0.01 → ` + keyLimit + `
			ask b 0.01 → ` + monthly,
		"R84f": r84 + `
			spent a 2026-11-07 499.99
			credential
			ask a 1 → 200
			now 2026-11-30T12:00:00Z
			ask a 1 → 200
			refuse
			ask a 0.02 → 502 Provider returned error
			usage a 499.99`,
		"R84g": r84 + `
			spent a 2026-11-07 450 100
			ask a 1 → 200
			credential
			budget monthly 500 true
			ask a 1 → ` + monthly,
		"R84h": `
			budget lifetime 1000.5
			ask a 1001 → 403 Workspace lifetime budget of $1000.50 exceeded. Contact your org admin.
			budget lifetime 0.005
			ask a 1001 → 403 Workspace lifetime budget of $0.005 exceeded. Contact your org admin.`,
		"R86a": `
			guard ben 20 daily
			spent a 2026-11-21 12
			spent b 2026-11-21 7.99
			ask a 0.02 → ` + guarded20 + `
			ask b 0.02 → ` + guarded20 + `
			ask c 0.02 → 200
			ask n 0.02 → 200
			ask a 0.01 → 200
			ask b 0.01 → ` + guarded20,
		"R86b": `
			guard a,b 20 daily
			spent a 2026-11-21 20
			spent b 2026-11-21 5
			ask a 0.01 → ` + guarded20 + `
			ask b 0.01 → 200`,
		"R86c": `
			guard ben 100 daily
			guard a 30 daily
			spent a 2026-11-21 30
			ask a 0.01 → 403 Guardrail daily budget of $30.00 exceeded
			ask b 0.01 → 200`,
		"R86d": `
			guard default 50 monthly
			spent b 2026-11-07 49
			spent a 2026-11-21 1
			ask a 0.01 → 403 Guardrail monthly budget of $50.00 exceeded
			ask c 0.01 → 403 Guardrail monthly budget of $50.00 exceeded
			ask n 0.01 → 403 Guardrail monthly budget of $50.00 exceeded
			now 2026-12-01T00:00:00Z
			ask a 50 → 200`,
		"R86e": `
			guard a 100 daily
			spent a 2026-11-21 9
			guard a 10 daily
			ask a 1.01 → 403 Guardrail daily budget of $10.00 exceeded
			ask a 1 → 200`,
		"R86f": `
			guard a 5 null
			spent a 2025-01-01 5
			ask a 0.01 → 403 Guardrail lifetime budget of $5.00 exceeded
			ask b 0.01 → 200`,
		"R86g": `
			guard a 1 null
			spent a 2026-11-21 5
			ask a 0.01 → 403 Guardrail lifetime budget of $1.00 exceeded
			guard ben 2 daily
			ask a 0.01 → 403 Guardrail daily budget of $2.00 exceeded
			guard default 3 weekly
			ask a 0.01 → 403 Guardrail weekly budget of $3.00 exceeded`,
	}
}

func TestRowsOfLimitsAndBudgets(t *testing.T) {
	for name, story := range rows() {
		t.Run(name, func(t *testing.T) { newStory(t).tell(story) })
	}
}
