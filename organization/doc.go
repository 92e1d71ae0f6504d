// Package organization administers accounts: their members, workspaces, budgets and
// credits, and the records of changes.
//
// An account is either an organization, which has members, or personal. Each has a
// default workspace, which cannot be deleted.
//
// Programs use [Service]. [Service.Intercept] puts the rules, budgets and credits of
// an account on each of its calls. Storage implements [Store].
package organization
