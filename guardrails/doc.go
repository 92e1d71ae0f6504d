// Package guardrails restricts what requests may use, spend and say.
//
// The one thing to know first: a [Guardrail] enforces nothing until it is
// assigned to a key or to a member; only the default guardrail of a workspace
// covers its traffic from the start. On a request those of its workspace, its
// member and its key all apply, the strictest of each rule.
package guardrails
