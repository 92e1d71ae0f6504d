package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/store"
)

// Verify computes everything that is summed up in the schema anew, from the events, the open holds and the payments, and returns where that differs from
// what is kept. It reads one instant, changes nothing, and may be run while
// servers are at work. It takes minutes for ten million events.
//
// Spending of callers without an account is on lines and in no event, so that it
// is reported. What became of closed holds is not known any more. Sums beyond
// the largest USD are an error.
func Verify(ctx context.Context, pool *pgxpool.Pool, cfg Config) (found store.Verified, err error) {
	db, migrations, err := open(ctx, pool, cfg)
	if err == nil {
		found, err = sqlledger.Verify(ctx, db, migrations)
	}
	if err != nil {
		return store.Verified{}, fmt.Errorf("postgres: verify: %w", err)
	}
	return found, nil
}
