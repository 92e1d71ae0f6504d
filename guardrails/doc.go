// Package guardrails restricts what requests may use, spend and say.
//
// A [Guardrail] enforces nothing until it is assigned to a key or to a member; only the
// default guardrail of a workspace covers its traffic from the start. On a request
// those of its workspace, its member and its key all apply, the strictest of each rule:
// see [Merge].
//
// Rules restrict models, providers and data policies. A budget limits the spending of
// the workspace, member or key that its guardrail covers. Content filters flag, redact
// or block what they find: package content describes what they scan, what they find
// and what they do not find. [Service.Intercept] applies all of it to a call, and gives
// the answers the names of questions and options as the caller sent them.
package guardrails
