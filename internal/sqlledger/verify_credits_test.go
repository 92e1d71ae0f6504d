package sqlledger_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/organization"
	"github.com/signalbox/signalbox/router"
)

// pay creates an account and its payments.
func (b *books) pay(t *testing.T, account string, payments ...router.USD) {
	t.Helper()
	change := func() router.Change { return router.Change{ID: uuid.New(), At: noon(), Account: account} }
	a := organization.Account{ID: account, DefaultWorkspace: account + "'s", CreatedAt: noon(), UpdatedAt: noon(), Version: 1}
	require.NoError(t, b.Organization.CreateAccount(t.Context(), a,
		organization.Member{ID: "ada", CreatedAt: noon(), Version: 1},
		organization.Workspace{ID: a.DefaultWorkspace, Slug: "default", CreatedAt: noon(), UpdatedAt: noon(), Version: 1}, change()))
	for i, amount := range payments {
		a.Credits += amount
		a.Version = int64(i) + 1
		require.NoError(t, b.Organization.AddPayment(t.Context(),
			organization.Payment{Account: account, ID: uuid.NewString(), Amount: amount, At: noon()}, a, change()))
	}
}

// The credits of an account are the sum of its payments.
func TestVerifyCredits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, b books) {
		t.Helper()
		b.pay(t, "poor")
		b.pay(t, "rich", 3*router.Dollar, 4*router.Dollar)
		found, err := b.verify(t.Context())
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
		for _, tt := range [][2]string{
			{`UPDATE {accounts} SET credits_nano = 1 WHERE id = 'poor'`, `credits of account="poor": stored is 0.000000001, computed is 0`},
			{`UPDATE {payments} SET amount_nano = 5 WHERE amount_nano = 3000000000`, `credits of account="rich": stored is 7, computed is 4.000000005`},
			{`DELETE FROM {payments} WHERE amount_nano = 5`, `credits of account="rich": stored is 7, computed is 4`},
			{`DELETE FROM {accounts} WHERE id = 'rich'`, `credits of account="rich": stored is nothing, computed is 4`},
			{`INSERT INTO {payments} (account, id, amount_nano, paid_at) VALUES ('nobody', 'p', 0, 0)`, `credits of account="nobody": stored is nothing, computed is 0`},
		} {
			require.NoError(t, b.exec(t.Context(), tt[0]))
			found, err := b.verify(t.Context())
			require.NoError(t, err)
			var all []string
			for _, d := range found.Differences {
				all = append(all, d.String())
			}
			assert.Contains(t, all, tt[1], tt[0])
		}
	})
}
