package sqlledger

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
)

// Ever is the window of the lines that have versions.
const Ever = "ever"

// versions are the versions of an owner's record and of the guardrails that cover the
// owner. They are stored on the owner's line.
type versions struct{ record, guards int64 }

// anyVersions returns versions that no line exceeds.
func anyVersions() versions { return versions{math.MaxInt64, math.MaxInt64} }

// of returns the version of the guardrails that cover the owner, or of its own record.
func (v *versions) of(cover bool) *int64 {
	if cover {
		return &v.guards
	}
	return &v.record
}

// RaiseVersion raises the version of an owner's record to n, if it is lower. Once the
// transaction is committed, holds that state an older version are refused as stale. The
// zero Line is ignored.
func RaiseVersion(ctx context.Context, tx sqldb.Tx, owner router.Line, n int64) error {
	if owner == (router.Line{}) {
		return nil // no spending is counted for such an owner
	}
	_, err := tx.Exec(ctx, `INSERT INTO {lines} AS lines (owner, win, version) VALUES ($1, $2, $3)
		ON CONFLICT (owner, win) DO UPDATE SET
			version = CASE WHEN lines.version < excluded.version THEN excluded.version ELSE lines.version END`,
		owner.Owner, owner.Window, n)
	return err
}

// RaiseGuards raises the guardrail versions of lines by one and ignores the zero Line.
// It creates and locks the lines in the lock order of the ledger, so that it does not
// deadlock with other transactions.
func RaiseGuards(ctx context.Context, db sqldb.DB, tx sqldb.Tx, lines []router.Line) error {
	lines = slices.DeleteFunc(lines, func(line router.Line) bool { return line == router.Line{} })
	if len(lines) == 0 {
		return nil
	}
	found, err := lineIDsOf(ctx, db, tx, lines)
	if err != nil {
		return err
	}
	rows := make([][]any, 0, len(found))
	for _, id := range slices.Backward(slices.Sorted(maps.Values(found))) {
		rows = append(rows, []any{id})
	}
	return db.RunRows(ctx, tx,
		sqldb.RowsStatement{Text: loadLines, Columns: numberColumns(), Rows: rows, Scan: func(sqldb.Rows) error { return nil }},
		sqldb.RowsStatement{Text: raiseGuards, Columns: numberColumns(), Rows: rows, Changed: int64(len(rows))})
}

// GuardedLines returns the lines of a principal's workspace, member and key.
func GuardedLines(p router.Principal) []router.Line {
	lines := make([]router.Line, 0, 3)
	for _, o := range []router.Owner{router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		if line := o.Line(p, Ever); line != (router.Line{}) {
			lines = append(lines, line)
		}
	}
	return lines
}

// stale returns a [router.StaleError] if a hold states versions that are older than
// those of its lines, or nil.
func (b *books) stale(asked *router.Hold, ids []int64) error {
	var old []int
	for i, v := range asked.Versions {
		at := slices.Index(asked.Lines, v.Line)
		if at >= 0 && *b.lines[ids[at]].versions.of(v.Cover) > v.N {
			old = append(old, i)
		}
	}
	if old == nil {
		return nil
	}
	return &router.StaleError{Versions: old}
}
