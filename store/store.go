// Package store bundles the storage that a service needs. There is no single storage
// interface: each consumer defines its own, and a [Set] has a field for each. The fields
// may come from different stores.
package store

import (
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

// Set has one storage for each consumer. A nil field turns its feature off. Minor versions
// may add fields, so write composite literals with field names.
type Set struct {
	Activity     activity.Store
	Keys         keys.Store
	Guardrails   guardrails.Store
	Audit        organization.AuditStore
	Presets      presets.Store
	Ledger       router.Ledger
	Organization organization.Store
	Credentials  keys.CredentialStore
	Pruner       Pruner // nil: nothing is ever dropped
}
