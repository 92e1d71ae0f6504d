package sqlledger

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/sqldb"
	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store"
)

const (
	theHorizon = `SELECT coalesce(max(day), '') FROM {pruned}`
	setHorizon = `INSERT INTO {pruned} AS p (one, day) VALUES (1, $1)
		ON CONFLICT (one) DO UPDATE SET day = excluded.day WHERE p.day < excluded.day`

	lastEvent  = `SELECT coalesce(max(id), '') FROM {events}`
	nextEvents = `SELECT id, day, account, workspace, member, key_hash, credit, total FROM {events}
		WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`
	dropEvents = `DELETE FROM {events} WHERE id IN (SELECT n.id FROM {n})`
	// Rows of the roll-ups go with the first event of their day: readers skip pruned days.
	dropByKey     = `DELETE FROM {usage_by_key} WHERE (account, key_hash, day) IN (SELECT n.account, n.key_hash, n.day FROM {n})`
	dropByAccount = `DELETE FROM {usage_by_account} WHERE (account, day) IN (SELECT n.account, n.day FROM {n})`
	carry         = `INSERT INTO {carried} AS u (owner, win, credit, total)
		SELECT owner, win, credit, total FROM {n} WHERE true ORDER BY owner, win ON CONFLICT (owner, win) DO UPDATE SET `

	lastLine    = `SELECT cast(coalesce(max(id), 0) AS text) FROM {lines}`
	nextLines   = `SELECT id, owner, win, held_credit, held_total FROM {lines} WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`
	dropLines   = `DELETE FROM {lines} WHERE held_credit = 0 AND held_total = 0 AND id IN (SELECT n.id FROM {n})`
	dropCarried = `DELETE FROM {carried} WHERE (owner, win) IN (SELECT n.owner, n.win FROM {n})`

	lastChange  = `SELECT cast(coalesce(max(seq), 0) AS text) FROM {audit}`
	nextChanges = `SELECT seq, at FROM {audit} WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3`
	dropChanges = `DELETE FROM {audit} WHERE seq IN (SELECT n.id FROM {n})`
)

var _ store.Pruner = (*Pruner)(nil)

// Pruner implements [store.Pruner]. It first stores the horizon, the first day that
// is kept. Reports and [Verify] skip all days before the horizon, so they are right
// between two portions as well.
type Pruner struct {
	db       sqldb.DB
	activity *Activity
}

// NewPruner returns the pruner of db. It folds the lists of activity, which must be in
// the same db, before it prunes events.
func NewPruner(db sqldb.DB, activity *Activity) *Pruner { return &Pruner{db: db, activity: activity} }

// scanFactor is how many rows a portion reads for each row that it may drop. Reading a
// row costs far less than dropping one.
const scanFactor = 8

// The kinds of rows, in the order of a lap.
const (
	placeEvents  = "events"
	placeLines   = "lines"
	placeChanges = "changes"
)

// place is a position in a lap. Until is the last row of the kind at the moment when
// the lap came to that kind, so that the lap ends however much is written meanwhile.
type place struct {
	Kind  string `json:"kind"`
	After string `json:"after"` // the key of the last row that was read
	Until string `json:"until"` // the key of the last row to read; "" until it is looked up
}

// placeOf parses a place. A text that is no place is the beginning of a lap.
func placeOf(text string) (at place) {
	if err := json.Unmarshal([]byte(text), &at); err != nil || at.Kind == "" {
		return place{}
	}
	return at
}

// end returns the key of the last row to read. It looks the key up once for each kind.
func (p place) end(ctx context.Context, tx sqldb.Tx, last string) (string, error) {
	if p.Until != "" {
		return p.Until, nil
	}
	return sqldb.One(ctx, tx, nil, sqldb.ScanText, last)
}

func (p place) String() string {
	text, err := json.Marshal(p)
	if err != nil {
		return "" // unreachable: three strings always have JSON
	}
	return string(text)
}

// Prune implements [store.Pruner].
func (p *Pruner) Prune(ctx context.Context, before time.Time, from string, limit int) (store.Pruned, error) {
	at, limit := placeOf(from), max(limit, 1)
	var prune pruning
	next := ""
	switch at.Kind {
	case placeLines:
		prune, next = p.lines, placeChanges
	case placeChanges:
		prune = p.changes(before.Truncate(24 * time.Hour))
	default:
		if at.Kind != placeEvents {
			at = place{Kind: placeEvents}
			if err := p.activity.fold(ctx, math.MaxInt); err != nil { // sums folded after their day was pruned would stay for ever
				return store.Pruned{}, err
			}
		}
		prune, next = p.events, placeLines
	}
	var got portion
	err := sqldb.WriteIdempotent(ctx, p.db, func(tx sqldb.Tx) (err error) {
		if _, err := tx.Exec(ctx, setHorizon, router.Daily.Window(before)); err != nil {
			return err
		}
		// Another process may have set a later horizon. Lines and what is carried to
		// them must use the same one.
		horizon, err := sqldb.One(ctx, tx, nil, sqldb.ScanText, theHorizon)
		if err != nil {
			return err
		}
		got, err = prune(ctx, tx, at, horizon, limit)
		return err
	})
	switch {
	case errors.Is(err, sqldb.ErrChanged): // another process drops the same rows: go on from the same place
		return store.Pruned{Next: at.String()}, nil
	case err != nil:
		return store.Pruned{}, err
	case got.dropped == limit || got.seen == scanFactor*limit:
		return store.Pruned{Next: place{Kind: at.Kind, After: got.last, Until: got.until}.String(), Dropped: got.dropped}, nil
	case next == "":
		return store.Pruned{Dropped: got.dropped}, nil
	}
	return store.Pruned{Next: place{Kind: next}.String(), Dropped: got.dropped}, nil
}

// portion is the result of one transaction.
type portion struct {
	seen, dropped int
	last, until   string // keys
}

// pruning prunes one portion. horizon is the first day that is kept.
type pruning func(ctx context.Context, tx sqldb.Tx, at place, horizon string, limit int) (portion, error)

// events drops events of days before the horizon, with the roll-ups of these days for
// the same keys and accounts. What the events added to lines of windows that are not
// over is carried to those lines.
func (p *Pruner) events(ctx context.Context, tx sqldb.Tx, at place, horizon string, limit int) (got portion, err error) {
	if got.until, err = at.end(ctx, tx, lastEvent); err != nil {
		return got, err
	}
	over, carried := isOver(horizon), map[router.Line]router.Amount{}
	var ids [][]any
	byKey, byAccount := map[[3]string]bool{}, map[[2]string]bool{}
	err = sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		if len(ids) == limit {
			return nil // left to the next portion
		}
		var day string
		var of router.Principal
		var cost router.Amount
		if err := rows.Scan(&got.last, &day, &of.Account, &of.Workspace, &of.Member, &of.KeyHash, &cost.Credit, &cost.Total); err != nil {
			return err
		}
		got.seen++
		if day >= horizon {
			return nil
		}
		ids = append(ids, []any{got.last})
		byKey[[3]string{of.Account, of.KeyHash, day}] = true
		byAccount[[2]string{of.Account, day}] = true
		for line := range linesOf(of, day) {
			if !over(line.Window) {
				carried[line] = plus(carried[line], cost)
			}
		}
		return nil
	}, nextEvents, at.After, got.until, scanFactor*limit)
	if got.dropped = len(ids); err != nil || got.dropped == 0 {
		return got, err
	}
	return got, p.db.RunRows(ctx, tx,
		sqldb.RowsStatement{Text: dropEvents, Columns: idColumns(), Rows: ids, Changed: int64(len(ids))},
		sqldb.RowsStatement{Text: dropByKey, Columns: []string{"account text", "key_hash text", "day text"}, Rows: keysOf(byKey), Changed: -1},
		sqldb.RowsStatement{Text: dropByAccount, Columns: []string{"account text", "day text"}, Rows: pairsOf(byAccount), Changed: -1},
		sqldb.RowsStatement{
			Text: carry + added("credit, total"), Columns: []string{"owner text", "win text", "credit bigint", "total bigint"},
			Rows: amountsOf(carried), Changed: -1,
		})
}

// lines drops lines of windows that ended before the horizon, and what was carried to
// them. A line with an open hold stays until a later lap. Closed holds, which stay for
// a day, may refer to lines that are gone.
func (p *Pruner) lines(ctx context.Context, tx sqldb.Tx, at place, horizon string, limit int) (got portion, err error) {
	if got.until, err = at.end(ctx, tx, lastLine); err != nil {
		return got, err
	}
	over := isOver(horizon)
	var ids, names [][]any
	err = sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
		if len(ids) == limit {
			return nil // left to the next portion
		}
		var id int64
		var owner, window string
		var held router.Amount
		if err := rows.Scan(&id, &owner, &window, &held.Credit, &held.Total); err != nil {
			return err
		}
		got.seen, got.last = got.seen+1, strconv.FormatInt(id, 10)
		if over(window) && held == (router.Amount{}) {
			ids, names = append(ids, []any{id}), append(names, []any{owner, window})
		}
		return nil
	}, nextLines, number(at.After), number(got.until), scanFactor*limit)
	if got.dropped = len(ids); err != nil || got.dropped == 0 {
		return got, err
	}
	return got, p.db.RunRows(ctx, tx,
		sqldb.RowsStatement{Text: dropLines, Columns: numberColumns(), Rows: ids, Changed: -1},
		sqldb.RowsStatement{Text: dropCarried, Columns: []string{"owner text", "win text"}, Rows: names, Changed: -1})
}

// changes returns the pruning of audit records before an instant.
func (p *Pruner) changes(before time.Time) pruning {
	return func(ctx context.Context, tx sqldb.Tx, at place, _ string, limit int) (got portion, err error) {
		if got.until, err = at.end(ctx, tx, lastChange); err != nil {
			return got, err
		}
		var numbers [][]any
		err = sqldb.Query(ctx, tx, func(rows sqldb.Rows) error {
			if len(numbers) == limit {
				return nil // left to the next portion
			}
			var seq, when int64
			if err := rows.Scan(&seq, &when); err != nil {
				return err
			}
			got.seen, got.last = got.seen+1, strconv.FormatInt(seq, 10)
			if when < sqldb.Micros(before) {
				numbers = append(numbers, []any{seq})
			}
			return nil
		}, nextChanges, number(at.After), number(got.until), scanFactor*limit)
		if got.dropped = len(numbers); err != nil || got.dropped == 0 {
			return got, err
		}
		return got, sqldb.ExecRows(ctx, p.db, tx, dropChanges, numberColumns(), numbers)
	}
}

// number parses a numeric key. Any other text is 0, which is before all keys.
func number(key string) int64 {
	n, _ := strconv.ParseInt(key, 10, 64)
	return n
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
