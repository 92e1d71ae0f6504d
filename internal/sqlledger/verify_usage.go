package sqlledger

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

const nothing = "nothing" // stands for a row that does not exist

// byKey compares the roll-up by key with the events.
func (v *verifier) byKey(ctx context.Context, tx sqldb.Tx) error {
	return v.usage(ctx, tx, "usage_by_key", byKey)
}

// byAccount compares the roll-up by account with the events.
func (v *verifier) byAccount(ctx context.Context, tx sqldb.Tx) error {
	return v.usage(ctx, tx, "usage_by_account", byAccount)
}

// usage compares a roll-up, together with the lists, with the events grouped by its
// key. Each row must have events and each group of events a row.
func (v *verifier) usage(ctx context.Context, tx sqldb.Tx, table, key string) error {
	names, values := strings.Split(key, ", "), strings.Split(figures, ", ")
	listed := v.listed.by(names)
	dest, texts, sums := destinations(len(names), 2+2*len(values))
	kept, events := sums[:1+len(values)], sums[1+len(values):] // each: number of rows, then the figures
	err := sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		at := where(names, texts)
		for i, n := range listed[at] {
			kept[i] = addUp(kept[i], n)
		}
		delete(listed, at)
		if kept[0] > 0 && events[0] > 0 && slices.Equal(kept[1:], events[1:]) {
			return nil
		}
		stored, computed := differing(figuresOf(values, kept), figuresOf(values, events))
		v.differ(table, at, stored, computed)
		return nil
	}, usageQuery(table, key, values), v.pruned)
	for _, at := range slices.Sorted(maps.Keys(listed)) { // keys without a difference between roll-up and events
		if of := listed[at]; slices.Max(of[1:]) != 0 || slices.Min(of[1:]) != 0 {
			v.differ(table+", to be added", at, strings.Join(figuresOf(values, of), " "), nothing)
		}
	}
	return err
}

// usageQuery sums up the rows of a roll-up ("kept" is 1) and the events ("kept" is 0)
// by key, and returns the keys whose sums differ. It joins nothing, so it finds what is
// missing on either side.
func usageQuery(table, key string, values []string) string {
	var kept, found, differ []string
	for _, f := range values {
		kept = append(kept, "CAST(sum(kept * "+f+") AS bigint)")
		found = append(found, "CAST(sum((1 - kept) * "+f+") AS bigint)")
		differ = append(differ, "sum(kept * "+f+") <> sum((1 - kept) * "+f+")")
	}
	return `SELECT ` + key + `, sum(kept), ` + strings.Join(kept, ", ") + `, sum(1 - kept), ` + strings.Join(found, ", ") + `
		FROM (SELECT ` + key + `, 1 AS kept, ` + figures + ` FROM {` + table + `} WHERE day >= $1
			UNION ALL SELECT ` + key + `, 0, ` + figures + ` FROM {events} WHERE day >= $1) AS both_sides
		GROUP BY ` + key + `
		HAVING sum(kept) = 0 OR sum(1 - kept) = 0 OR ` + strings.Join(differ, " OR ") + `
		ORDER BY ` + key
}

// destinations returns scan destinations for texts followed by numbers.
func destinations(texts, numbers int) (dest []any, t []string, n []int64) {
	t, n = make([]string, texts), make([]int64, numbers)
	for i := range t {
		dest = append(dest, &t[i])
	}
	for i := range n {
		dest = append(dest, &n[i])
	}
	return dest, t, n
}

// figuresOf formats figures. figures[0] is the number of rows they are summed from;
// without rows the result is nil.
func figuresOf(names []string, figures []int64) []string {
	if figures[0] == 0 {
		return nil
	}
	figures = figures[1:]
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = name + "=" + strconv.FormatInt(figures[i], 10)
		if name == "credit" || name == "total" {
			texts[i] = name + "=" + router.USD(figures[i]).String()
		}
	}
	return texts
}

// differing returns the figures of both lists that differ.
func differing(stored, computed []string) (s, c string) {
	if stored == nil {
		return nothing, strings.Join(computed, " ")
	}
	if computed == nil {
		return strings.Join(stored, " "), nothing
	}
	var some, others []string
	for i := range stored {
		if stored[i] != computed[i] {
			some, others = append(some, stored[i]), append(others, computed[i])
		}
	}
	return strings.Join(some, " "), strings.Join(others, " ")
}

// where describes a row by its key.
func where(names, texts []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name + "=" + strconv.Quote(texts[i]))
	}
	return b.String()
}
