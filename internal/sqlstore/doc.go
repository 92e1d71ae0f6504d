// Package sqlstore keeps the resources of a service in SQL: keys, credentials,
// guardrails, presets, the organization and its audit log. [Set] adds the ledger
// of internal/sqlledger.
package sqlstore
