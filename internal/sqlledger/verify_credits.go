package sqlledger

import (
	"context"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// credits compares the stored credits of accounts with the sums of their payments. It
// joins nothing, so it also finds payments of an account that does not exist.
func (v *verifier) credits(ctx context.Context, tx sqldb.Tx) error {
	return sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		var account string
		var accounts, stored, paid int64
		if err := rows.Scan(&account, &accounts, &stored, &paid); err != nil {
			return err
		}
		kept := nothing
		if accounts > 0 {
			kept = router.USD(stored).String()
		}
		v.differ("credits", where([]string{"account"}, []string{account}), kept, router.USD(paid).String())
		return nil
	}, `SELECT account, sum(kept), CAST(sum(stored) AS bigint), CAST(sum(paid) AS bigint)
		FROM (SELECT id AS account, 1 AS kept, credits_nano AS stored, 0 AS paid FROM {accounts}
			UNION ALL SELECT account, 0, 0, amount_nano FROM {payments}) AS both_sides
		GROUP BY account HAVING sum(kept) = 0 OR sum(stored) <> sum(paid)
		ORDER BY account LIMIT $1`, mostDifferences)
}
