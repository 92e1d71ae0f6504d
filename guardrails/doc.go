// Package guardrails restricts what requests may use, spend and say.
//
// The one thing to know first: a [Guardrail] enforces nothing until it is
// assigned to a key or to a member; only the default guardrail of a workspace
// covers its traffic from the start. On a request those of its workspace, its
// member and its key all apply, the strictest of each rule.
//
// Content filters are written by tenants and run on what their callers send, so
// their work is bounded: see [Scanner.Scan] for the budget of a request and
// [Patch.Check] for that of a guardrail. Scans that take long share all
// processors but one, and one account's scans have at most half of the places.
package guardrails
