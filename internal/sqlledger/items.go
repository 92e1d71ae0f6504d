package sqlledger

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/activity"
	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// Items implements [activity.Store].
func (s *Activity) Items(ctx context.Context, r activity.Range) (items []activity.Item, err error) {
	text := `SELECT day, model, permaslug, endpoint, provider, workspace, reason, ` + figures + ` FROM `
	const within = ` WHERE account = $1 AND day >= $2 AND day <= $3 AND day >= (` + theHorizon + `)`
	args := []any{r.Account, r.From, r.To}
	switch {
	case r.KeyHash != "" && r.Member != "":
		text, args = text+"{usage_by_key}"+within+" AND key_hash = $4 AND member = $5", append(args, r.KeyHash, r.Member)
	case r.KeyHash != "":
		text, args = text+"{usage_by_key}"+within+" AND key_hash = $4", append(args, r.KeyHash)
	case r.Member != "":
		text, args = text+"{usage_by_key}"+within+" AND member = $4", append(args, r.Member)
	default:
		text += "{usage_by_account}" + within
	}
	err = s.db.Read(ctx, func(tx sqldb.Tx) error {
		if items, err = sqldb.List(ctx, tx, scanItem, text, args...); err != nil {
			return err
		}
		listed, err := s.listed(ctx, tx, r)
		items = append(items, listed...)
		return err
	})
	return mergedItems(items), err
}

// listed returns the events that the roll-ups do not count yet.
func (s *Activity) listed(ctx context.Context, tx sqldb.Tx, r activity.Range) (items []activity.Item, err error) {
	var lists eventLists
	if err := sqldb.Query(ctx, tx, lists.scan, theLists+` WHERE account = $1`, r.Account); err != nil {
		return nil, err
	}
	if len(lists.sums) == 0 {
		return nil, nil
	}
	horizon, err := sqldb.One(ctx, tx, nil, sqldb.ScanText, theHorizon)
	if err != nil {
		return nil, err
	}
	from := max(r.From, horizon) // listed events of a pruned day are not shown
	for i := range lists.sums {
		row := &lists.sums[i]
		if row.Day < from || row.Day > r.To || r.KeyHash != "" && row.KeyHash != r.KeyHash || r.Member != "" && row.Member != r.Member {
			continue
		}
		item, err := row.item()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// mergedItems adds up items that differ only in their figures.
func mergedItems(items []activity.Item) []activity.Item {
	at := make(map[activity.Item]int, len(items))
	merged := items[:0]
	for _, item := range items {
		of := activity.Item{
			Date: item.Date, Model: item.Model, Permaslug: item.Permaslug, Endpoint: item.Endpoint, Provider: item.Provider,
			Workspace: item.Workspace, Reason: item.Reason,
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

func scanItem(rows sqldb.Rows) (activity.Item, error) {
	var r eventRow
	if err := rows.Scan(&r.Day, &r.Model, &r.Permaslug, &r.Endpoint, &r.Provider, &r.Workspace, &r.Reason, &r.Requests, &r.Prompt,
		&r.Completion, &r.Reasoning, &r.Cached, &r.Credit, &r.Total); err != nil {
		return activity.Item{}, err
	}
	return r.item()
}

// item returns a row as callers of Items see it.
func (r *eventRow) item() (i activity.Item, err error) {
	i = activity.Item{
		Date: r.Day, Model: r.Model, Permaslug: r.Permaslug, Provider: r.Provider, Workspace: r.Workspace, Reason: router.LegReason(r.Reason),
		Requests: r.Requests, Prompt: r.Prompt, Completion: r.Completion, Reasoning: r.Reasoning, Cached: r.Cached,
		Cost: router.Amount{Credit: router.USD(r.Credit), Total: router.USD(r.Total)},
	}
	i.Endpoint, err = uuid.Parse(r.Endpoint)
	return i, err
}
