package sqlstore

import (
	"context"
	"fmt"
)

// listed are the events that the roll-ups do not count yet.
type listed []eventRow

// by adds them up by the columns of a key: how many there are, then their figures.
func (l listed) by(names []string) map[string][]int64 {
	sums := map[string][]int64{}
	for i := range l {
		r := &l[i]
		of := map[string]string{
			"account": r.Account, "key_hash": r.KeyHash, "day": r.Day, "member": r.Member, "workspace": r.Workspace,
			"model": r.Model, "permaslug": r.Permaslug, "endpoint": r.Endpoint, "provider": r.Provider,
		}
		texts := make([]string, len(names))
		for i, name := range names {
			texts[i] = of[name]
		}
		row := []int64{1, r.Requests, r.Prompt, r.Completion, r.Reasoning, r.Cached, r.Credit, r.Total}
		at := where(names, texts)
		if sum, ok := sums[at]; ok {
			for i := range sum {
				sum[i] = addUp(sum[i], row[i])
			}
		} else {
			sums[at] = row
		}
	}
	return sums
}

// lists reads what is listed, and checks that there are such events.
func (v *verifier) lists(ctx context.Context, tx Tx) error {
	var ids []string
	accounts := map[string]string{}
	err := query(ctx, tx, func(rows Rows) error {
		var id, size int64
		var account string
		of, err := scanList(rows, &id, &size, &account)
		if err != nil {
			return err
		}
		if int(size) != len(of) {
			v.differ("events_new", fmt.Sprintf("id=%d", id), fmt.Sprintf("size=%d", size), fmt.Sprintf("size=%d", len(of)))
		}
		for _, event := range of {
			accounts[event] = account
		}
		ids = append(ids, of...)
		return nil
	}, `SELECT id, size, account, events FROM events_new ORDER BY id`)
	if err != nil {
		return err
	}
	err = lookUpEvents(ctx, v.db, tx, ids, func(row eventRow) {
		if account := accounts[row.ID]; account != row.Account {
			v.differ("events_new", where([]string{"event"}, []string{row.ID}), account, row.Account)
		}
		v.listed = append(v.listed, row)
	})
	if missing := len(ids) - len(v.listed); missing > 0 {
		v.differ("events_new", "all lists", fmt.Sprintf("events=%d", len(ids)), fmt.Sprintf("events=%d", len(v.listed)))
	}
	return err
}
