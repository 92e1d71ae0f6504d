// Package store bundles the storage that a service needs.
//
// There is no big storage interface: each consumer states its own, and a
// [Set] has one field for each. Mix freely.
package store

import (
	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/guardrails"
	"github.com/signalbox/signalbox/keys"
	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/presets"
	"github.com/signalbox/signalbox/router"
)

// Set is one storage for each consumer. A nil field turns its feature off.
// Fields are added in minor versions, so write it with field names.
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
