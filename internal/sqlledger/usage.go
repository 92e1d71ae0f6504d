package sqlledger

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/signalbox/signalbox/internal/sqldb"
)

const (
	// foldAt is how many events a process records before it adds some itself, where
	// nobody calls Expire: whoever reads a roll-up reads all that are listed.
	foldAt = 16384
	// foldMost is how many events are added at a time, by Expire and by others: who
	// adds them has more to do, and there may always be new ones.
	foldMost, foldOthers = 64 * foldAt, 2 * foldAt
)

// sums adds up rows that differ in their figures only.
type sums map[eventRow]*eventRow

func (s sums) add(row eventRow) {
	of := row
	of.Requests, of.Prompt, of.Completion, of.Reasoning, of.Cached, of.Credit, of.Total = 0, 0, 0, 0, 0, 0, 0
	sum, ok := s[of]
	if !ok {
		s[of] = &row
		return
	}
	sum.Requests, sum.Prompt = addUp(sum.Requests, row.Requests), addUp(sum.Prompt, row.Prompt)
	sum.Completion, sum.Reasoning = addUp(sum.Completion, row.Completion), addUp(sum.Reasoning, row.Reasoning)
	sum.Cached = addUp(sum.Cached, row.Cached)
	sum.Credit, sum.Total = addUp(sum.Credit, row.Credit), addUp(sum.Total, row.Total)
}

func (s sums) rows() [][]any {
	rows := make([][]any, 0, len(s))
	for _, row := range s {
		rows = append(rows, row.usage())
	}
	return rows
}

// addUp adds, and stays within what a column takes.
func addUp(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < -math.MaxInt64-b:
		return -math.MaxInt64
	}
	return a + b
}

// recorded is told how many events a caller has recorded, and folds now and then,
// in that caller's time: nobody else's call is to wait for it. What fails goes
// the next time.
func (s *Activity) recorded(ctx context.Context, n int) {
	if all := s.unfolded.Add(int64(n)); all >= foldAt && s.unfolded.CompareAndSwap(all, 0) {
		_ = s.fold(ctx, foldOthers)
	}
}

// fold adds listed events to the roll-ups, oldest first, and at most so many.
func (s *Activity) fold(ctx context.Context, events int) error {
	for range events / s.db.Portion() {
		found := 0
		err := s.db.Write(ctx, func(tx sqldb.Tx) (err error) {
			found, err = s.foldSome(ctx, tx)
			return err
		})
		switch {
		case errors.Is(err, sqldb.ErrUnknown):
			return nil // what is left goes the next time
		case err != nil || found < s.db.Portion():
			return err
		}
	}
	return nil
}

func (s *Activity) foldSome(ctx context.Context, tx sqldb.Tx) (int, error) {
	oldest, err := someLists(ctx, tx, s.db.Portion())
	if err != nil || len(oldest) == 0 {
		return 0, err
	}
	var taken eventLists // those that no rival has taken
	if err := sqldb.QueryRows(ctx, s.db, tx, taken.scan, loadLists, numberColumns(), oldest); err != nil {
		return 0, err
	}
	byKey, byAccount := sums{}, sums{}
	for _, row := range taken.sums {
		byKey.add(row)
		row.Member, row.KeyHash = "", ""
		byAccount.add(row)
	}
	return int(taken.events), s.db.RunRows(ctx, tx,
		sqldb.RowsStatement{Text: dropLists, Columns: numberColumns(), Rows: taken.lists, Changed: int64(len(taken.lists))},
		sqldb.RowsStatement{Text: addByKey + added(figures), Columns: usageColumns(), Rows: byKey.rows(), Changed: -1},
		sqldb.RowsStatement{Text: addByAccount + added(figures), Columns: usageColumns(), Rows: byAccount.rows(), Changed: -1})
}

// added is [addUp] in SQL, of figures of the table "u".
func added(figures string) string {
	const each = `$ = CASE
		WHEN u.$ > 9223372036854775807 - CASE WHEN excluded.$ > 0 THEN excluded.$ ELSE 0 END THEN 9223372036854775807
		WHEN u.$ < -9223372036854775807 - CASE WHEN excluded.$ < 0 THEN excluded.$ ELSE 0 END THEN -9223372036854775807
		ELSE u.$ + excluded.$ END`
	var all []string
	for name := range strings.SplitSeq(figures, ", ") {
		all = append(all, strings.ReplaceAll(each, "$", name))
	}
	return strings.Join(all, ", ")
}
