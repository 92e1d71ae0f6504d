package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/signalbox/signalbox/internal/sqlledger"
	"github.com/signalbox/signalbox/store"
)

// Verify computes all sums in the schema from the events, the open holds and the
// payments, and returns where they differ from the stored sums. It reads one snapshot,
// changes nothing, and may run while servers are at work. Ten million events take
// minutes.
//
// Spending of callers without an account is reported as a difference, because no event
// records it. Closed holds cannot be checked. Sums beyond the largest USD are an error.
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
