package sqlstore

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

const (
	theHorizon = `SELECT coalesce(max(day), '') FROM {pruned}`
	setHorizon = `INSERT INTO {pruned} AS p (one, day) VALUES (1, $1)
		ON CONFLICT (one) DO UPDATE SET day = excluded.day WHERE p.day < excluded.day`

	nextEvents = `SELECT id, day, account, workspace, member, key_hash, credit, total FROM {events} WHERE id > $1 ORDER BY id LIMIT $2`
	dropEvents = `DELETE FROM {events} WHERE id IN (SELECT n.id FROM {n})`
	// What is summed up of a day that is over is not read any more.
	dropByKey     = `DELETE FROM {usage_by_key} WHERE (account, key_hash, day) IN (SELECT n.account, n.key_hash, n.day FROM {n})`
	dropByAccount = `DELETE FROM {usage_by_account} WHERE (account, day) IN (SELECT n.account, n.day FROM {n})`
	carry         = `INSERT INTO {carried} AS u (owner, win, credit, total)
		SELECT owner, win, credit, total FROM {n} WHERE true ORDER BY owner, win ON CONFLICT (owner, win) DO UPDATE SET `

	nextLines   = `SELECT id, owner, win, held_credit, held_total FROM {lines} WHERE id > $1 ORDER BY id LIMIT $2`
	dropLines   = `DELETE FROM {lines} WHERE held_credit = 0 AND held_total = 0 AND id IN (SELECT n.id FROM {n})`
	dropCarried = `DELETE FROM {carried} WHERE (owner, win) IN (SELECT n.owner, n.win FROM {n})`

	nextChanges = `SELECT seq, at FROM {audit} WHERE seq > $1 ORDER BY seq LIMIT $2`
	dropChanges = `DELETE FROM {audit} WHERE seq IN (SELECT n.id FROM {n})`
)

var _ store.Pruner = (*Pruner)(nil)

// Pruner drops what is old. Before it drops anything it stores the first day that
// is kept. Reports and [Verify] leave out all days before that one, so they are
// also right between two portions.
type Pruner struct {
	db       DB
	activity *Activity
}

// The kinds of rows, in the order in which a lap goes through them. A place is a
// kind, a colon and the key of the row that was looked at last.
const (
	placeEvents  = "events"
	placeLines   = "lines"
	placeChanges = "changes"
)

// Prune implements [store.Pruner].
func (p *Pruner) Prune(ctx context.Context, before time.Time, from string, limit int) (store.Pruned, error) {
	kind, after, _ := strings.Cut(from, ":")
	number, _ := strconv.ParseInt(after, 10, 64) // 0 for what is none: the beginning
	limit, horizon := max(limit, 1), router.Daily.Window(before)
	prune, next := p.events(after, limit), placeLines
	switch kind {
	case placeLines:
		prune, next = p.lines(number, limit), placeChanges
	case placeChanges:
		prune, next = p.changes(number, before.Truncate(24*time.Hour), limit), ""
	default:
		if kind != placeEvents {
			after, prune = "", p.events("", limit)
			if err := p.activity.fold(ctx, math.MaxInt); err != nil { // what is added later would stay
				return store.Pruned{}, err
			}
		}
		kind = placeEvents
	}
	var did portion
	err := repeat(ctx, p.db, func(tx Tx) (err error) {
		if _, err := tx.Exec(ctx, setHorizon, horizon); err != nil {
			return err
		}
		// A rival's horizon may be later. Lines and what is carried to them go by one.
		horizon, err := one(ctx, tx, nil, scanText, theHorizon)
		if err != nil {
			return err
		}
		did, err = prune(ctx, tx, horizon)
		return err
	})
	switch {
	case errors.Is(err, ErrChanged): // a rival drops the same: once more from here, which is not the end of a lap
		return store.Pruned{Next: kind + ":" + after}, nil
	case err != nil:
		return store.Pruned{}, err
	case did.seen == limit:
		next = kind + ":" + did.last
	case next != "":
		next += ":"
	}
	return store.Pruned{Next: next, Dropped: did.dropped}, nil
}

// portion is how far one transaction came.
type portion struct {
	seen, dropped int
	last          string // key
}

// pruning goes through one portion, by the first day that is kept.
type pruning func(ctx context.Context, tx Tx, horizon string) (portion, error)

// events drops events of days before the horizon, with all that is summed up of
// these days for their keys and accounts, and carries what they have added to
// lines of windows that are not over.
func (p *Pruner) events(after string, limit int) pruning {
	return func(ctx context.Context, tx Tx, horizon string) (did portion, err error) {
		over, carried := isOver(horizon), map[router.Line]router.Amount{}
		var ids [][]any
		byKey, byAccount := map[[3]string]bool{}, map[[2]string]bool{}
		err = query(ctx, tx, func(rows Rows) error {
			var day string
			var of router.Principal
			var cost router.Amount
			if err := rows.Scan(&did.last, &day, &of.Account, &of.Workspace, &of.Member, &of.KeyHash, &cost.Credit, &cost.Total); err != nil {
				return err
			}
			did.seen++
			if day >= horizon {
				return nil
			}
			ids = append(ids, []any{did.last})
			byKey[[3]string{of.Account, of.KeyHash, day}] = true
			byAccount[[2]string{of.Account, day}] = true
			for line := range linesOf(of, day) {
				if !over(line.Window) {
					carried[line] = plus(carried[line], cost)
				}
			}
			return nil
		}, nextEvents, after, limit)
		if err != nil || len(ids) == 0 {
			return did, err
		}
		did.dropped = len(ids)
		return did, p.db.RunRows(ctx, tx,
			RowsStatement{Text: dropEvents, Columns: idColumns(), Rows: ids, Changed: int64(len(ids))},
			RowsStatement{Text: dropByKey, Columns: []string{"account text", "key_hash text", "day text"}, Rows: keysOf(byKey), Changed: -1},
			RowsStatement{Text: dropByAccount, Columns: []string{"account text", "day text"}, Rows: pairsOf(byAccount), Changed: -1},
			RowsStatement{
				Text: carry + added("credit, total"), Columns: []string{"owner text", "win text", "credit bigint", "total bigint"},
				Rows: amountsOf(carried), Changed: -1,
			})
	}
}

// lines drops lines of windows that ended before the horizon, and what was carried
// to them. One that something is held on stays until a later lap. Holds that are
// closed, and are known for a day yet, may be on lines that are gone.
func (p *Pruner) lines(after int64, limit int) pruning {
	return func(ctx context.Context, tx Tx, horizon string) (did portion, err error) {
		over := isOver(horizon)
		var ids, names [][]any
		err = query(ctx, tx, func(rows Rows) error {
			var id int64
			var owner, window string
			var held router.Amount
			if err := rows.Scan(&id, &owner, &window, &held.Credit, &held.Total); err != nil {
				return err
			}
			did.seen, did.last = did.seen+1, strconv.FormatInt(id, 10)
			if over(window) && held == (router.Amount{}) {
				ids, names = append(ids, []any{id}), append(names, []any{owner, window})
			}
			return nil
		}, nextLines, after, limit)
		if err != nil || len(ids) == 0 {
			return did, err
		}
		did.dropped = len(ids)
		return did, p.db.RunRows(ctx, tx,
			RowsStatement{Text: dropLines, Columns: numberColumns(), Rows: ids, Changed: -1},
			RowsStatement{Text: dropCarried, Columns: []string{"owner text", "win text"}, Rows: names, Changed: -1})
	}
}

// changes drops records of changes before an instant.
func (p *Pruner) changes(after int64, before time.Time, limit int) pruning {
	return func(ctx context.Context, tx Tx, _ string) (did portion, err error) {
		var numbers [][]any
		err = query(ctx, tx, func(rows Rows) error {
			var number, at int64
			if err := rows.Scan(&number, &at); err != nil {
				return err
			}
			did.seen, did.last = did.seen+1, strconv.FormatInt(number, 10)
			if at < micros(before) {
				numbers = append(numbers, []any{number})
			}
			return nil
		}, nextChanges, after, limit)
		if err != nil || len(numbers) == 0 {
			return did, err
		}
		did.dropped = len(numbers)
		return did, execRows(ctx, p.db, tx, dropChanges, numberColumns(), numbers)
	}
}

// linesOf are the lines on which a day's spending of a principal is counted.
func linesOf(of router.Principal, day string) func(yield func(router.Line) bool) {
	return func(yield func(router.Line) bool) {
		date, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return // no event of ours has such a day
		}
		for _, owner := range []router.Owner{router.OwnerAccount, router.OwnerWorkspace, router.OwnerMember, router.OwnerKey} {
			for _, window := range windowsOf(day, date) {
				if line := owner.Line(of, window); line != (router.Line{}) && !yield(line) {
					return
				}
			}
		}
	}
}

// isOver returns whether a window, by its name, ended before a day began. Names of
// one kind are in the order of time.
func isOver(day string) func(window string) bool {
	var names [router.Daily + 1]string
	if date, err := time.Parse(time.DateOnly, day); err == nil {
		names = windowsOf(day, date)
	}
	return func(window string) bool {
		switch len(window) {
		case len("2026-11"):
			return window < names[router.Monthly]
		case len("2026-W47"):
			return window < names[router.Weekly]
		case len("2026-11-21"):
			return window < names[router.Daily]
		}
		return false
	}
}

func keysOf(set map[[3]string]bool) (rows [][]any) {
	for key := range set {
		rows = append(rows, []any{key[0], key[1], key[2]})
	}
	return rows
}

func pairsOf(set map[[2]string]bool) (rows [][]any) {
	for pair := range set {
		rows = append(rows, []any{pair[0], pair[1]})
	}
	return rows
}

func amountsOf(set map[router.Line]router.Amount) (rows [][]any) {
	for _, line := range slices.SortedFunc(maps.Keys(set), func(a, b router.Line) int {
		return strings.Compare(a.Owner+"\x00"+a.Window, b.Owner+"\x00"+b.Window)
	}) {
		rows = append(rows, []any{line.Owner, line.Window, int64(set[line].Credit), int64(set[line].Total)})
	}
	return rows
}
