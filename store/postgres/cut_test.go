package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/pgtest"
	"github.com/signalbox/signalbox/internal/sqldb"
)

var errCut = errors.New("the wire is cut")

// wire is a connection that breaks after a number of bytes in each direction.
type wire struct {
	net.Conn

	to, from *atomic.Int64
}

func (w *wire) Write(p []byte) (int, error) { return w.upTo(w.to, p, w.Conn.Write) }
func (w *wire) Read(p []byte) (int, error)  { return w.upTo(w.from, p, w.Conn.Read) }

func (w *wire) upTo(left *atomic.Int64, p []byte, do func([]byte) (int, error)) (int, error) {
	most := min(int64(len(p)), left.Load())
	if most <= 0 {
		return 0, errors.Join(errCut, w.Close())
	}
	n, err := do(p[:most])
	if left.Add(-int64(n)) <= 0 && n < len(p) {
		err = errors.Join(err, errCut, w.Close())
	}
	return n, err
}

// cuttable returns a pool of one such connection, new for each use.
func cuttable(t *testing.T, dsn string, to, from *atomic.Int64) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	cfg.MaxConns = 1
	cfg.ConnConfig.RuntimeParams["application_name"] = "cut"
	dial := cfg.ConnConfig.DialFunc
	cfg.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &wire{conn, to, from}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// Wherever the connection breaks, WriteRows takes effect as a whole or not at all. What it
// returned is true: nil if it took effect, ErrUnknown either way, any other error if not.
func TestWriteRowsCutAtEveryByte(t *testing.T) {
	t.Parallel()
	const far = 1 << 40
	dsn := pgtest.DSN(t, pgtest.Config{})
	watching, err := pgxpool.New(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(watching.Close)
	numbered(t, watching)
	var to, from atomic.Int64
	pool := cuttable(t, dsn, &to, &from)
	d := newDB(pool, pgtest.Schema(pool))
	step := int64(41)
	if testing.Short() {
		step = 199
	}
	for name, left := range map[string]*atomic.Int64{"to the server": &to, "from the server": &from} {
		told := map[string]int{}
		for at := int64(1); told["done"] == 0; at += step {
			to.Store(far)
			from.Store(far)
			pool.Reset()
			require.NoError(t, pool.Ping(t.Context()))
			left.Store(at)
			text := fmt.Sprintf("%s %d", name, at)
			before := notes(t, watching)
			err := d.WriteRows(t.Context(), note(1, text, 0), note(1, text, 1))
			whole := left.Load() > 0
			to.Store(far)
			from.Store(far)
			pool.Reset()
			require.Eventually(t, func() (gone bool) { // until then it may go on
				err := watching.QueryRow(t.Context(), "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'cut'").Scan(&gone)
				return err == nil && gone
			}, 10*time.Second, time.Millisecond)
			is, after := notes(t, watching), text+","+text+",,,"
			switch {
			case err == nil:
				assert.Equal(t, after, is, "%s: it was said to be in force", text)
				told["in force"]++
			case errors.Is(err, sqldb.ErrUnknown):
				assert.Contains(t, []string{before, after}, is, "%s: half of it is in force", text)
				told["unknown"]++
			default:
				assert.Equal(t, before, is, "%s: it was said to be undone: %v", text, err)
				told["undone"]++
			}
			if whole {
				told["done"]++
			}
		}
		assert.Positive(t, told["in force"], name)
		assert.Positive(t, told["unknown"], name)
		t.Logf("%s: %v", name, told)
	}
}
