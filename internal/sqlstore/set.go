package sqlstore

import "github.com/signalbox/signalbox/store"

// Set returns all stores in db.
func Set(db DB) store.Set {
	used := NewActivity(db)
	return store.Set{
		Activity:     used,
		Audit:        NewAudit(db),
		Credentials:  NewCredentials(db),
		Guardrails:   NewGuardrails(db),
		Keys:         NewKeys(db),
		Ledger:       NewLedger(db, used),
		Presets:      NewPresets(db),
		Organization: NewOrganization(db),
		Pruner:       NewPruner(db, used),
	}
}
