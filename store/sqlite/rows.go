package sqlite

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/sqlstore"
)

// steps are the numbers of rows that statements are made for, largest first:
// few, so that all of them stay prepared.
const steps = "\x40\x10\x04\x01" // 64, 16, 4, 1

// ExecRows implements [sqlstore.DB].
func (d *db) ExecRows(ctx context.Context, t sqlstore.Tx, text string, columns []string, rows [][]any) (int64, error) {
	changed := int64(0)
	return changed, d.inSteps(text, columns, rows, func(text string, args []any) error {
		n, err := t.Exec(ctx, text, args...)
		changed += n
		return err
	})
}

// QueryRows implements [sqlstore.DB].
func (d *db) QueryRows(
	ctx context.Context, t sqlstore.Tx, scan func(sqlstore.Rows) error, text string, columns []string, rows [][]any,
) error {
	return d.inSteps(text, columns, rows, func(text string, args []any) error {
		found, err := t.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			if err := scan(found); err != nil {
				return err
			}
		}
		return found.Err()
	})
}

// inSteps hands rows to run, as many at once as there is a statement for.
func (d *db) inSteps(text string, columns []string, rows [][]any, run func(text string, args []any) error) error {
	for len(rows) > 0 {
		n := 1
		for _, step := range []byte(steps) {
			if int(step) <= len(rows) {
				n = int(step)
				break
			}
		}
		args := make([]any, 0, n*len(columns))
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if err := run(d.forRows.text(text, columns, n), args); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// expansions remembers texts for numbers of rows. The zero value knows none.
type expansions struct {
	mu    sync.RWMutex
	known map[expansion]string
}

type expansion struct {
	text string
	rows int
}

func (e *expansions) text(text string, columns []string, rows int) string {
	key := expansion{text, rows}
	e.mu.RLock()
	expanded, ok := e.known[key]
	e.mu.RUnlock()
	if ok {
		return expanded
	}
	expanded = strings.Replace(text, "{n}", table(columns, rows), 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		e.known = make(map[expansion]string)
	}
	e.known[key] = expanded
	return expanded
}

// table is a subquery "n" of rows whose values are all parameters. A union names
// its columns; VALUES would not.
func table(columns []string, rows int) string {
	var b strings.Builder
	b.WriteString("(")
	for row := range rows {
		if row > 0 {
			b.WriteString(" UNION ALL ")
		}
		for i, column := range columns {
			b.WriteString([]string{"SELECT ", ", "}[min(i, 1)])
			b.WriteString("$" + strconv.Itoa(row*len(columns)+i+1))
			if row == 0 {
				name, _, _ := strings.Cut(column, " ")
				b.WriteString(" AS " + name)
			}
		}
	}
	b.WriteString(") AS n")
	return b.String()
}
