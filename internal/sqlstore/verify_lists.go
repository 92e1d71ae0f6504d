package sqlstore

import (
	"context"
	"fmt"
)

// listed is what the roll-ups do not count yet.
type listed []eventRow

// by adds it up by the columns of a key: how many rows there are, then their figures.
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

// lists reads what is listed. Where that are ids, it checks that there are such
// events; what is wrong with sums shows when they are compared with all events.
func (v *verifier) lists(ctx context.Context, tx Tx) error {
	var ids []string
	accounts := map[string]string{}
	err := query(ctx, tx, func(rows Rows) error {
		l, err := scanList(rows)
		if err != nil {
			return err
		}
		if l.size != l.events {
			v.differ("events_new", fmt.Sprintf("id=%d", l.id), fmt.Sprintf("size=%d", l.size), fmt.Sprintf("size=%d", l.events))
		}
		for _, event := range l.ids {
			accounts[event] = l.account
		}
		v.listed, ids = append(v.listed, l.sums...), append(ids, l.ids...)
		return nil
	}, theLists+` ORDER BY id`)
	if err != nil {
		return err
	}
	found := 0
	err = lookUpEvents(ctx, v.db, tx, ids, func(row eventRow) {
		if account := accounts[row.ID]; account != row.Account {
			v.differ("events_new", where([]string{"event"}, []string{row.ID}), account, row.Account)
		}
		found++
		v.listed = append(v.listed, row)
	})
	if found < len(ids) {
		v.differ("events_new", "all lists of ids", fmt.Sprintf("events=%d", len(ids)), fmt.Sprintf("events=%d", found))
	}
	return err
}
