package sqlledger

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// listed is the events that the roll-ups do not count yet.
type listed []eventRow

// by adds the events up by the columns of a key. Each sum begins with the number of
// rows, followed by the figures.
func (l listed) by(names []string) map[string][]int64 {
	sums := map[string][]int64{}
	for i := range l {
		r := &l[i]
		of := map[string]string{
			"account": r.Account, "key_hash": r.KeyHash, "day": r.Day, "member": r.Member, "workspace": r.Workspace,
			"model": r.Model, "permaslug": r.Permaslug, "endpoint": r.Endpoint, "provider": r.Provider, "reason": r.Reason,
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

// lists reads the lists. Wrong sums in a list show up later, in the comparison with
// all events.
func (v *verifier) lists(ctx context.Context, tx sqldb.Tx) error {
	return sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		l, err := scanList(rows)
		if err != nil {
			return err
		}
		if l.size != l.events {
			v.differ("events_new", fmt.Sprintf("id=%d", l.id), fmt.Sprintf("size=%d", l.size), fmt.Sprintf("size=%d", l.events))
		}
		for i := range l.sums {
			if l.sums[i].Day >= v.pruned {
				v.listed = append(v.listed, l.sums[i])
			}
		}
		return nil
	}, theLists+` ORDER BY id`)
}
