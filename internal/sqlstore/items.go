package sqlstore

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/router"
)

// Items implements [activity.Store].
func (s *Activity) Items(ctx context.Context, r activity.Range) (items []activity.Item, err error) {
	const each = `SELECT day, model, permaslug, endpoint, provider, workspace, ` + figures
	const within = ` WHERE account = $1 AND day >= $2 AND day <= $3`
	table, of, args := "usage_by_account", within, []any{r.Account, r.From, r.To}
	switch {
	case r.KeyHash != "" && r.Member != "":
		table, of, args = "usage_by_key", of+" AND key_hash = $4 AND member = $5", append(args, r.KeyHash, r.Member)
	case r.KeyHash != "":
		table, of, args = "usage_by_key", of+" AND key_hash = $4", append(args, r.KeyHash)
	case r.Member != "":
		table, of, args = "usage_by_key", of+" AND member = $4", append(args, r.Member)
	}
	err = s.db.Read(ctx, func(tx Tx) error {
		items, err = list(ctx, tx, scanItem, each+" FROM "+table+of+" UNION ALL "+each+" FROM usage_new"+of, args...)
		return err
	})
	return mergedItems(items), err
}

// mergedItems adds up items that differ in their figures only.
func mergedItems(items []activity.Item) []activity.Item {
	at := make(map[activity.Item]int, len(items))
	merged := items[:0]
	for _, item := range items {
		of := activity.Item{
			Date: item.Date, Model: item.Model, Permaslug: item.Permaslug, Endpoint: item.Endpoint, Provider: item.Provider,
			Workspace: item.Workspace,
		}
		i, ok := at[of]
		if !ok {
			at[of] = len(merged)
			merged = append(merged, item)
			continue
		}
		sum := &merged[i]
		sum.Requests, sum.Prompt = addUp(sum.Requests, item.Requests), addUp(sum.Prompt, item.Prompt)
		sum.Completion, sum.Reasoning = addUp(sum.Completion, item.Completion), addUp(sum.Reasoning, item.Reasoning)
		sum.Cached = addUp(sum.Cached, item.Cached)
		sum.Cost.Credit = router.USD(addUp(int64(sum.Cost.Credit), int64(item.Cost.Credit)))
		sum.Cost.Total = router.USD(addUp(int64(sum.Cost.Total), int64(item.Cost.Total)))
	}
	return merged
}

func scanItem(rows Rows) (i activity.Item, err error) {
	var endpoint string
	if err = rows.Scan(&i.Date, &i.Model, &i.Permaslug, &endpoint, &i.Provider, &i.Workspace, &i.Requests, &i.Prompt,
		&i.Completion, &i.Reasoning, &i.Cached, &i.Cost.Credit, &i.Cost.Total); err != nil {
		return i, err
	}
	i.Endpoint, err = uuid.Parse(endpoint)
	return i, err
}
