package sqlstore

import (
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/store"
)

// Set returns all stores of db.
func Set(db sqldb.DB) store.Set {
	used := sqlledger.NewActivity(db)
	return store.Set{
		Activity:     used,
		Alerts:       NewAlerts(db),
		Audit:        NewAudit(db),
		Credentials:  NewCredentials(db),
		Guardrails:   NewGuardrails(db),
		Keys:         NewKeys(db),
		Ledger:       sqlledger.NewLedger(db, used),
		Presets:      NewPresets(db),
		Organization: NewOrganization(db),
		Pruner:       sqlledger.NewPruner(db, used),
	}
}
