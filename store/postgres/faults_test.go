package postgres_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/storetest"
)

// fault is an error of the database that callers of a store must not notice.
type fault string

const (
	refusedStatement fault = "a statement fails with a serialization failure"
	tornResult       fault = "a result breaks off with a deadlock"
	refusedCommit    fault = "a commit fails with a serialization failure"
	lostBefore       fault = "the connection is lost before a commit"
	lostAfter        fault = "the connection is lost after a commit"
	shutBefore       fault = "the server shuts down before a commit"
	shutAfter        fault = "the server shuts down after a commit"
)

// faults injects random faults, into any statement and into the commits of transactions
// that write.
type faults struct {
	mu     sync.Mutex
	draw   *rand.Rand
	struck map[fault]int
}

// newFaults logs its seed. SIGNALBOX_TEST_SEED repeats one.
func newFaults(t *testing.T) *faults {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SIGNALBOX_TEST_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("SIGNALBOX_TEST_SEED=%d", seed)
	return &faults{draw: rand.New(rand.NewPCG(seed, 0)), struck: map[fault]int{}}
}

// strikes returns one of the faults in n of a hundred cases, else none.
func (f *faults) strikes(n int, among ...fault) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.draw.IntN(100) >= n {
		return ""
	}
	drawn := among[f.draw.IntN(len(among))]
	f.struck[drawn]++
	return drawn
}

func (f *faults) wrap(begin postgres.Begin) postgres.Begin {
	return func(ctx context.Context, statements ...string) (postgres.Session, error) {
		tx, err := begin(ctx, statements...)
		return &faultyTx{Session: tx, faults: f, reads: postgres.Reads(statements), alone: len(statements) == 0}, err
	}
}

func told(code string) error {
	return &pgconn.PgError{Severity: "ERROR", Code: code, Message: "a fault"}
}

// faultyTx is a transaction with injected faults.
type faultyTx struct {
	postgres.Session

	faults *faults
	reads  bool
	alone  bool
	asked  bool
	ended  bool // whatever the caller was told
}

// twice reports whether a second statement is sent without a transaction. It could see
// another snapshot.
func (t *faultyTx) twice() bool {
	before := t.asked
	t.asked = true
	return t.alone && before
}

var errTwice = errors.New("several statements without a transaction")

func (t *faultyTx) Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error) {
	if t.alone {
		return pgconn.CommandTag{}, errTwice
	}
	if t.faults.strikes(3, refusedStatement) != "" {
		return pgconn.CommandTag{}, told("40001")
	}
	return t.Session.Exec(ctx, text, args...)
}

func (t *faultyTx) Query(ctx context.Context, text string, args ...any) (pgx.Rows, error) {
	if t.twice() {
		return nil, errTwice
	}
	strikes := t.faults.strikes(3, refusedStatement, tornResult)
	if strikes == refusedStatement {
		return nil, told("40001")
	}
	rows, err := t.Session.Query(ctx, text, args...) //nolint:rowserrcheck // the store checks
	if err == nil && strikes == tornResult {
		rows = &tornRows{Rows: rows}
	}
	return rows, err
}

func (t *faultyTx) SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults {
	sent := t.Session.SendBatch(ctx, batch)
	if t.twice() || t.alone && batch.Len() > 1 {
		return &refusedBatch{sent, errTwice}
	}
	if t.faults.strikes(3*batch.Len(), refusedStatement) != "" {
		return &refusedBatch{sent, told("40001")}
	}
	return sent
}

// refusedBatch is a batch whose last statement failed.
type refusedBatch struct {
	pgx.BatchResults

	err error
}

func (b *refusedBatch) Close() error {
	if err := b.BatchResults.Close(); err != nil {
		return err
	}
	return b.err
}

// tornRows breaks off after the first row.
type tornRows struct {
	pgx.Rows

	read bool
}

func (r *tornRows) Next() bool {
	before := r.read
	r.read = true
	return !before && r.Rows.Next()
}

func (r *tornRows) Err() error { return told("40P01") }

func (t *faultyTx) Commit(ctx context.Context) error {
	if t.reads { // its outcome cannot be unknown
		if t.faults.strikes(3, refusedCommit) != "" {
			_ = t.Rollback(ctx)
			return told("40001")
		}
		return t.Session.Commit(ctx)
	}
	return t.commit(ctx, t.Session.Commit)
}

func (t *faultyTx) CommitWith(ctx context.Context, batch *pgx.Batch) error {
	if t.faults.strikes(3*batch.Len(), refusedStatement) != "" {
		return told("40001")
	}
	return t.commit(ctx, func(ctx context.Context) error { return t.Session.CommitWith(ctx, batch) })
}

func (t *faultyTx) commit(ctx context.Context, commit func(context.Context) error) error {
	switch t.faults.strikes(15, refusedCommit, lostBefore, lostAfter, shutBefore, shutAfter) { //nolint:exhaustive // the others do not strike here
	case refusedCommit:
		_ = t.Rollback(ctx)
		return told("40001")
	case lostBefore:
		_ = t.Conn().Close(ctx)
	case lostAfter:
		if err := commit(ctx); err != nil {
			return err
		}
		t.ended = true
		return io.ErrUnexpectedEOF
	case shutBefore:
		_ = t.Rollback(ctx)
		return told("57P01")
	case shutAfter:
		if err := commit(ctx); err != nil {
			return err
		}
		t.ended = true
		return told("57P01")
	}
	return commit(ctx)
}

func (t *faultyTx) Rollback(ctx context.Context) error {
	if t.ended {
		return nil
	}
	t.ended = true
	return t.Session.Rollback(ctx)
}

// The whole suite passes while transactions fail at random and while the outcome of
// commits is unknown. By default the pass of store/sqlite that repeats transactions
// stands for it.
func TestConformanceUnderFaults(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Skip("SIGNALBOX_TEST_FULL is not 1")
	}
	pool := pgtest.Pool(t, pgtest.Config{})
	f := newFaults(t)
	storetest.Run(t, func(t *testing.T) store.Set {
		t.Helper()
		set, err := postgres.NewWith(t.Context(), pool, f.wrap)
		require.NoError(t, err)
		empty(t, pool, pgtest.Schema(pool))
		return set
	})
	for _, each := range []fault{
		refusedStatement, tornResult, refusedCommit, lostBefore, lostAfter, shutBefore, shutAfter,
	} {
		assert.Positive(t, f.struck[each], each)
	}
}
