package sqlledger

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/signalbox/signalbox/internal/sqldb"
)

const (
	// foldAt is how many events a process records before it folds some itself, for
	// programs that do not call Expire. Every read of a roll-up reads all lists.
	foldAt = 16384
	// foldMost and foldOthers bound how many events Expire and other callers fold at
	// a time. Other callers have work of their own, and new events may keep coming.
	foldMost, foldOthers = 64 * foldAt, 2 * foldAt
)

// sums adds up rows that differ only in their figures.
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

// addUp returns a + b, clamped to the range of a column.
func addUp(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < -math.MaxInt64-b:
		return -math.MaxInt64
	}
	return a + b
}

// recorded counts the n events that a caller has recorded, and folds every foldAt of
// them. The caller that reaches the number waits for the fold; no other call does. If
// the fold fails, a later one catches up.
func (s *Activity) recorded(ctx context.Context, n int) {
	if all := s.unfolded.Add(int64(n)); all >= foldAt && s.unfolded.CompareAndSwap(all, 0) {
		_ = s.fold(ctx, foldOthers)
	}
}

// fold adds listed events to the roll-ups, oldest first, at most the given number.
func (s *Activity) fold(ctx context.Context, events int) error {
	for range events / s.db.Portion() {
		found := 0
		err := s.db.Write(ctx, func(tx sqldb.Tx) (err error) {
			found, err = s.foldSome(ctx, tx)
			return err
		})
		switch {
		case errors.Is(err, sqldb.ErrUnknown):
			return nil // a later fold finds what is left
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
	var taken eventLists // lists that no concurrent transaction has folded
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

// added returns [addUp] in SQL, for figures of the table "u".
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
