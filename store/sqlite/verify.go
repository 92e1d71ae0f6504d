package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/store"
)

// Verify computes everything that is summed up in pool anew, from the events, the
// open holds and the payments, and returns where that differs from what is kept.
// It reads one instant, changes nothing, and may be run while the stores are in
// use; a pool that can only read will do. It takes minutes for ten million
// events, and temporary files for sorting them.
//
// Spending of callers without an account is on lines and in no event, so that it
// is reported. What became of closed holds is not known any more. Sums beyond
// the largest USD are an error.
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
