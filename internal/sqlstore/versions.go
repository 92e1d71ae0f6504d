package sqlstore

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/signalbox/signalbox/router"
)

// ever is the window of the lines that have versions.
const ever = "ever"

// versions are those of a line's owner: of its record, and of the guardrails that
// cover it.
type versions struct{ record, guards int64 }

// anyVersions are those that nothing is newer than.
func anyVersions() versions { return versions{math.MaxInt64, math.MaxInt64} }

// of returns the version of what covers the owner, or of its own record.
func (v *versions) of(cover bool) *int64 {
	if cover {
		return &v.guards
	}
	return &v.record
}

// outdate raises the version of an owner's record to n. Once the transaction is
// committed, limits that were read before are stale.
func outdate(ctx context.Context, tx Tx, owner router.Line, n int64) error {
	if owner == (router.Line{}) {
		return nil // nobody spends as that
	}
	_, err := tx.Exec(ctx, `INSERT INTO {lines} AS lines (owner, win, version) VALUES ($1, $2, $3)
		ON CONFLICT (owner, win) DO UPDATE SET
			version = CASE WHEN lines.version < excluded.version THEN excluded.version ELSE lines.version END`,
		owner.Owner, owner.Window, n)
	return err
}

// outdateGuards raises the versions of the guardrails that cover the owners of
// lines. It creates and locks the lines in the order of all other transactions, so
// that none deadlock.
func outdateGuards(ctx context.Context, db DB, tx Tx, lines []router.Line) error {
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
		RowsStatement{Text: loadLines, Columns: numberColumns(), Rows: rows, Scan: func(Rows) error { return nil }},
		RowsStatement{Text: raiseGuards, Columns: numberColumns(), Rows: rows, Changed: int64(len(rows))})
}

// guardsOf names the lines of a principal's workspace, member and key.
func guardsOf(p router.Principal) []router.Line {
	lines := make([]router.Line, 0, 3)
	for _, o := range []router.Owner{router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
		if line := o.Line(p, ever); line != (router.Line{}) {
			lines = append(lines, line)
		}
	}
	return lines
}

// stale returns the refusal of a hold by limits that are old, or nil.
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
