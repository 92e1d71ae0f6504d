package sqlledger

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// booksOfOwners returns, ordered by owner, three kinds of rows: lines with their
// balances; sums of events by day, with id 0; and sums of pruned events, with id -1.
// The names of owners are those of [router.Owner.Line].
const booksOfOwners = `WITH spent AS (
		SELECT day, account, workspace, member, key_hash, sum(credit) AS credit, sum(total) AS total
		FROM {events} GROUP BY day, account, workspace, member, key_hash)
	SELECT owner, id, win, spent_credit, spent_total, held_credit, held_total FROM (
		SELECT owner, id, win, spent_credit, spent_total, held_credit, held_total FROM {lines}
		UNION ALL SELECT owner, -1, win, credit, total, 0, 0 FROM {carried}
		UNION ALL SELECT 'account:' || account, 0, day, CAST(sum(credit) AS bigint), CAST(sum(total) AS bigint), 0, 0
			FROM spent WHERE account <> '' GROUP BY account, day
		UNION ALL SELECT 'workspace:' || workspace, 0, day, CAST(sum(credit) AS bigint), CAST(sum(total) AS bigint), 0, 0
			FROM spent WHERE workspace <> '' GROUP BY workspace, day
		UNION ALL SELECT 'member:' || replace(replace(account, '%', '%25'), '/', '%2F') || '/' || member, 0, day, CAST(sum(credit) AS bigint), CAST(sum(total) AS bigint), 0, 0
			FROM spent WHERE member <> '' GROUP BY account, member, day
		UNION ALL SELECT 'key:' || key_hash, 0, day, CAST(sum(credit) AS bigint), CAST(sum(total) AS bigint), 0, 0
			FROM spent WHERE key_hash <> '' GROUP BY key_hash, day
	) AS books ORDER BY owner, id`

// lines compares what is spent and held on each line with events and open holds.
func (v *verifier) lines(ctx context.Context, tx sqldb.Tx) error {
	of := ownersBooks{}
	err := sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		var owner, at string // at is a window, or a day for id 0
		var id int64
		var kept router.Balance
		if err := rows.Scan(&owner, &id, &at, &kept.Spent.Credit, &kept.Spent.Total, &kept.Held.Credit, &kept.Held.Total); err != nil {
			return err
		}
		if owner != of.owner {
			v.compare(of)
			of = ownersBooks{owner: owner, stored: map[string]router.Amount{}, computed: map[string]router.Amount{}}
		}
		switch id {
		case -1:
			of.computed[at] = plus(of.computed[at], kept.Spent)
			return nil
		case 0:
			for _, window := range v.windows[at] {
				of.computed[window] = plus(of.computed[window], kept.Spent)
			}
			return nil
		}
		v.found.Lines++
		of.stored[at] = kept.Spent
		if kept.Held != v.held[id] {
			v.differ("held", lineNamed(owner, at), amountNamed(kept.Held), amountNamed(v.held[id]))
		}
		delete(v.held, id)
		return nil
	}, booksOfOwners)
	if err != nil {
		return err
	}
	v.compare(of)
	for _, id := range slices.Sorted(maps.Keys(v.held)) {
		v.differ("held", "line id="+strconv.FormatInt(id, 10), nothing, amountNamed(v.held[id]))
	}
	return nil
}

// ownersBooks is what one owner has spent, by window.
type ownersBooks struct {
	owner            string
	stored, computed map[string]router.Amount
}

func (v *verifier) compare(of ownersBooks) {
	over := isOver(v.pruned)
	for _, window := range slices.Sorted(maps.Keys(of.stored)) {
		if over(window) {
			continue
		}
		if stored, computed := of.stored[window], of.computed[window]; stored != computed {
			v.differ("spent", lineNamed(of.owner, window), amountNamed(stored), amountNamed(computed))
		}
	}
	for _, window := range slices.Sorted(maps.Keys(of.computed)) {
		if _, ok := of.stored[window]; !ok && !over(window) && of.computed[window] != (router.Amount{}) {
			v.differ("spent", lineNamed(of.owner, window), nothing, amountNamed(of.computed[window]))
		}
	}
}

func lineNamed(owner, window string) string {
	return where([]string{"owner", "window"}, []string{owner, window})
}

func amountNamed(a router.Amount) string {
	return "credit=" + a.Credit.String() + " total=" + a.Total.String()
}
