// Package store bundles the storage that a service needs. Each consumer defines its own
// storage interface, and a [Set] has a field for each of them. The fields may come from
// different stores.
package store

import (
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/router/hooks"
)

// Set has one store for each consumer. Audit, Pruner and Alerts are optional;
// signalbox.New requires all other fields, or the zero Set, for which it makes stores in
// memory. Write a Set with field names, because minor versions add fields.
type Set struct {
	Activity     activity.Store
	Keys         keys.Store
	Guardrails   guardrails.Store
	Audit        organization.AuditStore // nil: changes are not recorded
	Presets      presets.Store
	Ledger       router.Ledger
	Organization organization.Store
	Credentials  keys.CredentialStore
	Pruner       Pruner           // nil: nothing is ever deleted
	Alerts       hooks.AlertStore // required only where alerts of budgets are wanted
}
