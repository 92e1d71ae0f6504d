package organization

import (
	"context"

	"github.com/signalbox/signalbox/router"
)

// AuditStore reads the records of changes. All stores of a set write them, each in the
// transaction of the action itself. An AuditStore is safe for concurrent use and
// honours ctx.
type AuditStore interface {
	// Changes returns limit of an account's records from offset on, newest
	// first, and how many there are in all. An account without records, or one
	// that does not exist, has none. The records are copies.
	Changes(ctx context.Context, account string, offset, limit int) ([]router.Change, int, error)
}
