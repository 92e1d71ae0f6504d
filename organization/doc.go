// Package organization keeps who works together and on whose money: accounts,
// their members, workspaces, budgets, credits, and the record of what was
// changed.
//
// The one thing to know first: an account is either an organization, with
// members, or personal, and each has a default workspace that cannot be
// deleted. [Service] is what programs hold; [Service.Intercept] puts an
// account's rules, budgets and credits on each call. [Store] is what storage
// implements.
package organization
