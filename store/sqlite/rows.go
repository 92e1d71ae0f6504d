package sqlite

import (
	"context"
	"strings"
	"sync"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// RunRows implements [sqldb.DB].
func (d *db) RunRows(ctx context.Context, t sqldb.Tx, statements ...sqldb.RowsStatement) error {
	for i := range statements {
		if err := d.runRows(ctx, t, &statements[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteRows implements [sqldb.DB].
func (d *db) WriteRows(ctx context.Context, statements ...sqldb.RowsStatement) error {
	return d.Write(ctx, func(t sqldb.Tx) error { return d.RunRows(ctx, t, statements...) })
}

func (d *db) runRows(ctx context.Context, t sqldb.Tx, s *sqldb.RowsStatement) error {
	changed := int64(0)
	err := d.inSteps(s.Text, s.Columns, s.Rows, func(text string, args []any) error {
		if s.Scan != nil {
			return scanAll(ctx, t, s.Scan, text, args)
		}
		n, err := t.Exec(ctx, text, args...)
		changed += n
		return err
	})
	if err == nil && s.Scan == nil && s.Changed >= 0 && s.Changed != changed {
		err = sqldb.ErrChanged
	}
	return err
}

func scanAll(ctx context.Context, t sqldb.Tx, scan func(sqldb.Rows) error, text string, args []any) error {
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
}

// inSteps passes rows to run, each time as many as [step] allows.
func (d *db) inSteps(text string, columns []string, rows [][]any, run func(text string, args []any) error) error {
	for len(rows) > 0 {
		n := step(len(rows))
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

// step returns how many of the remaining rows one statement takes. The sizes are few, so
// that all statements stay prepared.
func step(remaining int) int {
	switch {
	case remaining >= 64:
		return 64
	case remaining >= 16:
		return 16
	case remaining >= 4:
		return 4
	}
	return 1
}

// expansions caches texts by their numbers of rows. The zero value is empty.
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

// table returns a subquery "n" with one SELECT for each row, joined by UNION ALL. A
// SELECT can name its columns; VALUES cannot. The parameters are positional: SQLite
// looks up numbered parameters by name, one by one, for each row.
func table(columns []string, rows int) string {
	var b strings.Builder
	b.WriteString("(")
	for row := range rows {
		if row > 0 {
			b.WriteString(" UNION ALL ")
		}
		for i, column := range columns {
			if i == 0 {
				b.WriteString("SELECT ?")
			} else {
				b.WriteString(", ?")
			}
			if row == 0 {
				name, _, _ := strings.Cut(column, " ")
				b.WriteString(" AS " + name)
			}
		}
	}
	b.WriteString(") AS n")
	return b.String()
}
