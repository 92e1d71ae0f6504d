// Package guardrails restricts which models requests may use, what they may spend and
// what they may contain.
//
// A [Guardrail] enforces nothing until it is assigned to a key or to a member. Only the
// default guardrail of a workspace covers all traffic of that workspace from the start.
// The guardrails of a request's workspace, member and key all apply, and the strictest
// rule of each kind wins: see [Merge].
//
// Rules restrict models, providers and data policies. A budget limits the spending of the
// workspace, member or key that its guardrail covers. Content filters flag, redact or
// block what they find; package content describes what they scan and what they miss.
// [Service.Intercept] applies all three to a call. It also restores redacted names of
// questions and options in the answers.
package guardrails
