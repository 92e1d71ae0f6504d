package sqlstore

import (
	"context"

	"github.com/signalbox/signalbox/router"
)

// credits compares what accounts are said to have paid in with their payments.
func (v *verifier) credits(ctx context.Context, tx Tx) error {
	return query(ctx, tx, func(rows Rows) error {
		var account string
		var stored, paid int64
		if err := rows.Scan(&account, &stored, &paid); err != nil {
			return err
		}
		v.differ("credits", where([]string{"account"}, []string{account}), router.USD(stored).String(), router.USD(paid).String())
		return nil
	}, `SELECT accounts.id, credits_nano, CAST(coalesce(sum(amount_nano), 0) AS bigint)
		FROM accounts LEFT JOIN payments ON payments.account = accounts.id
		GROUP BY accounts.id, credits_nano HAVING credits_nano <> coalesce(sum(amount_nano), 0)
		ORDER BY accounts.id LIMIT $1`, mostDifferences)
}
