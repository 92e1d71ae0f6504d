// Package memory keeps all stores in the memory of the process. It is for tests, for
// examples, and for programs that may lose everything when they end.
package memory

import "github.com/signalbox/signalbox/store"

// New returns empty stores. They are safe for concurrent use.
func New() store.Set {
	audit, activity := newAuditStore(), newActivityStore()
	ledger := newLedger(activity)
	return store.Set{
		Activity:     activity,
		Alerts:       newAlertStore(),
		Keys:         newKeyStore(audit.record, &ledger.book),
		Guardrails:   newGuardrailStore(audit.record, &ledger.book),
		Audit:        audit,
		Presets:      newPresetStore(audit.record),
		Ledger:       ledger,
		Organization: newOrganizationStore(audit.record, &ledger.book),
		Credentials:  newCredentialStore(audit.record),
		Pruner:       &pruner{ledger, activity, audit},
	}
}
