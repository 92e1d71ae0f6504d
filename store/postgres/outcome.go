package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// rollBack rolls a transaction back. If that fails, the server does it when the connection
// closes.
func rollBack(ctx context.Context, began session) {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTime)
	defer cancel()
	_ = began.Rollback(ending)
}

// outcome returns the error of a commit, as ErrUnknown unless the commit surely failed.
func outcome(err error) error {
	if err == nil || undone(err) {
		return err
	}
	return fmt.Errorf("%w: %w", sqldb.ErrUnknown, err)
}

// undone reports whether a commit surely failed. It did if the server said so, with three
// exceptions: the error ended the session (a failed sync of the log, for example), the
// server is shutting down, or the error says that the outcome is unknown (40003, of
// CockroachDB).
func undone(err error) bool {
	failed, told := errors.AsType[*pgconn.PgError](err)
	return errors.Is(err, pgx.ErrTxCommitRollback) || told && !isLast(failed) &&
		!strings.HasPrefix(failed.Code, "57") && !strings.HasPrefix(failed.Code, "08") && failed.Code != "40003"
}

// isLast reports whether an error ended the session.
func isLast(failed *pgconn.PgError) bool {
	severity := cmp.Or(failed.SeverityUnlocalized, failed.Severity)
	return severity == "FATAL" || severity == "PANIC"
}

// isAway reports whether the server cannot serve at the moment: it starts or shuts
// down, has no connection or disk space left, or has become a standby.
func isAway(err error) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (isLast(failed) || failed.Code == "25006" || slices.Contains([]string{"08", "53", "57", "58"}, failed.Code[:min(2, len(failed.Code))]))
}
