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

// markUnavailable wraps errors of a file that cannot be used at the moment: another
// process has locked it, or the disk is full or gone. It compares SQLite's own messages
// because each driver has its own error codes.
func markUnavailable(ctx context.Context, err error) error {
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
