package sqlstore

import "github.com/signalbox/signalbox/store"

// Set returns all stores in db.
func Set(db DB) store.Set {
	return store.Set{
		Audit:       NewAudit(db),
		Credentials: NewCredentials(db),
		Keys:        NewKeys(db),
		Presets:     NewPresets(db),
	}
}
