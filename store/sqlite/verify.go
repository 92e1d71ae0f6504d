package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/store"
)

// Verify computes all sums in pool from the events, the open holds and the payments, and
// returns where they differ from the stored sums. It reads one snapshot, changes
// nothing, and may run while the stores are in use; a read-only pool is enough. Ten
// million events take minutes, and temporary files for sorting them.
//
// Spending of callers without an account is reported as a difference, because no event
// records it. Closed holds cannot be checked. Sums beyond the largest USD are an error.
func Verify(ctx context.Context, pool *sql.DB, cfg Config) (found store.Verified, err error) {
	db, migrations, err := databaseOf(pool, cfg)
	if err == nil {
		defer db.closeStatements()
		found, err = sqlledger.Verify(ctx, db, migrations)
	}
	if err != nil {
		return store.Verified{}, fmt.Errorf("sqlite: verify: %w", err)
	}
	return found, nil
}

func (d *db) closeStatements() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for text, s := range d.statements {
		_ = s.Close()
		delete(d.statements, text)
	}
}
