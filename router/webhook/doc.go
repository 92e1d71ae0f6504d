// Package webhook sends the events of package hooks to an HTTP address.
//
//	hook, err := webhook.New(webhook.Config{URL: "https://ops.example.com/signalbox", Secrets: secrets})
//	// …
//	receiver := hooks.Receiver{Name: "ops", Handler: hook, Types: []hooks.Type{hooks.BudgetReached}}
//
// Each event is one POST with a JSON body, signed in the manner of the Standard Webhooks
// specification 1.0 with HMAC-SHA-256, so that its verification libraries work, as does
// [Verify]. A delivery that fails is repeated with the same webhook-id: receivers drop
// the ids that they know.
//
// The one thing to know first: by default an address must be https and must resolve to
// public IP addresses only, which is checked at every connection. So an address that a
// customer entered cannot reach the operator's own network. [Config.Private] lifts this
// for receivers of the operator. Redirects are never followed, no proxy of the
// environment is used, and neither logs nor errors contain the address or a secret.
package webhook
