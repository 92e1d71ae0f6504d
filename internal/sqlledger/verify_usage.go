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

const nothing = "nothing" // of a row that is not there

// byKey compares the roll-up by key with the events.
func (v *verifier) byKey(ctx context.Context, tx sqldb.Tx) error {
	return v.usage(ctx, tx, "usage_by_key", byKey)
}

// byAccount compares the roll-up by account with the events.
func (v *verifier) byAccount(ctx context.Context, tx sqldb.Tx) error {
	return v.usage(ctx, tx, "usage_by_account", byAccount)
}

// usage compares a table of sums, and what is listed for it, with the events,
// grouped by the columns that are its key: each row of the one is there for rows
// of the other.
func (v *verifier) usage(ctx context.Context, tx sqldb.Tx, table, key string) error {
	names, values := strings.Split(key, ", "), strings.Split(figures, ", ")
	listed := v.listed.by(names)
	dest, texts, sums := destinations(len(names), 2+2*len(values))
	kept, events := sums[:1+len(values)], sums[1+len(values):] // how many rows, then their figures
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
	for _, at := range slices.Sorted(maps.Keys(listed)) { // of these the table alone has all there is
		if of := listed[at]; slices.Max(of[1:]) != 0 || slices.Min(of[1:]) != 0 {
			v.differ(table+", to be added", at, strings.Join(figuresOf(values, of), " "), nothing)
		}
	}
	return err
}

// usageQuery adds up the rows of a table ("kept" is 1), apart from those of the
// events (0), and returns the sums that are not the same. It joins nothing, so
// that it finds what is missing on either side.
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

// destinations are for scanning texts and then numbers.
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

// figuresOf are figures as people read them, of which the first is how many rows
// they are of; none of no rows.
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

// differing keeps of two lists of figures those that differ.
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

// where names a row by its key.
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
