package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// told marks the errors of a file that can do nothing just now: another process
// has it, or the disk is full or away. They are SQLite's own words, because each
// driver has codes of its own.
func told(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || slices.ContainsFunc([]string{
		"database is locked", "disk is full", "disk I/O error", "unable to open database file", "sql: database is closed",
	}, func(words string) bool { return strings.Contains(text, words) }) {
		return sqldb.Unavailable(ctx, err)
	}
	return err
}
