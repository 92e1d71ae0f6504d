package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience bounds each operation on a server. It is long because tests may run on a busy
// machine.
const patience = time.Minute

// Config describes the schema of a test. The zero value is a schema with the server's own
// settings, on a server that does not sync.
type Config struct {
	// Synced asks for a server whose commits are on disk when they return, for
	// benchmarks and crash tests. By default commits are faster; they survive the death
	// of every process, but not a power cut. Both kinds of server may run at once. A
	// server of the environment that does not sync fails the test.
	Synced bool

	// OwnDatabase asks for a database instead of a schema, for programs that use the
	// schema "signalbox" of their database. Creating it takes about a hundred times as
	// long.
	OwnDatabase bool

	// Settings are added to the DSN and hold for all of its sessions, such as
	// default_transaction_isolation or statement_timeout. Settings of a pool, such as
	// pool_max_conns, work too.
	Settings map[string]string
}

// shared holds the servers of the test process.
var shared = kit{find: binaries}

// Main runs the tests of a package and then stops the servers that they have started. If the
// process is killed, its servers end with it and their folders are removed.
//
// Random histories are fewer than rapid's default, because each of their steps waits for a
// database. -rapid.checks gives another number.
func Main(m *testing.M) {
	if checks := flag.Lookup("rapid.checks"); checks != nil {
		_ = checks.Value.Set("20") // the command line comes later
	}
	shared.open()
	defer shared.close()
	m.Run()
}

// Pool returns a pool of connections to an empty schema. When the test ends, the pool is closed
// and the schema dropped; the test must have released its connections. Safe for concurrent use.
func Pool(t testing.TB, cfg Config) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), DSN(t, cfg))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Schema returns the name of the schema of a [Pool].
func Schema(pool *pgxpool.Pool) string { return pool.Config().ConnConfig.RuntimeParams["search_path"] }

// DSN returns the address of an empty schema, which is the search_path of its sessions. With
// Config.OwnDatabase the schema is public. When the test ends, the schema is dropped and its
// remaining sessions are terminated. Other processes may use the DSN. Safe for concurrent use.
func DSN(t testing.TB, cfg Config) string {
	t.Helper()
	server := shared.server(t, cfg.Synced)
	name := "signalbox_" + strings.ToLower(rand.Text())
	settings := maps.Clone(cfg.Settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["application_name"] = name
	if cfg.OwnDatabase {
		settings["dbname"], settings["search_path"] = name, "public"
	} else {
		settings["search_path"] = name
	}
	dsn, err := with(server, settings)
	if err == nil {
		err = create(t.Context(), server, name, cfg)
	}
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := run(context.Background(), server, drop(name, cfg)); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return dsn
}

// kit starts each kind of server once, when the first test asks for it.
type kit struct {
	find func() (folder string, err error)

	mu      sync.Mutex
	opened  bool
	started map[bool]started // by Config.Synced
}

type started struct {
	server *server
	err    error
}

func (k *kit) open() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opened, k.started = true, map[bool]started{}
}

func (k *kit) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.started {
		if s.err == nil {
			s.server.stop()
		}
	}
	k.opened, k.started = false, nil
}

// server returns the DSN of a server. Without one it ends the test.
func (k *kit) server(t testing.TB, synced bool) string {
	t.Helper()
	if dsn := os.Getenv("SIGNALBOX_TEST_POSTGRES"); dsn != "" {
		return dsn
	}
	dsn, err := k.private(synced)
	switch {
	case err == nil:
		return dsn
	case errors.Is(err, errNotOpen):
		t.Fatalf("pgtest: %v", err)
	default:
		missing(t, err)
	}
	return ""
}

// missing ends a test that has no server.
func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("SIGNALBOX_TEST_NOSKIP") == "1" {
		t.Fatalf("pgtest: PostgreSQL is promised here: %v", err)
	}
	t.Skipf("needs PostgreSQL, or for most tests its DSN in SIGNALBOX_TEST_POSTGRES: %v", err)
}

var errNotOpen = errors.New("the package's TestMain does not call pgtest.Main")

func (k *kit) private(synced bool) (dsn string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.opened {
		return "", errNotOpen
	}
	s, ok := k.started[synced]
	if !ok {
		var folder string
		if folder, s.err = k.find(); s.err == nil {
			s.server, s.err = start(folder, synced)
		}
		k.started[synced] = s
	}
	if s.err != nil {
		return "", s.err
	}
	return s.server.dsn, nil
}

// with returns dsn, which is a URL or a list of keywords and values, with added settings.
func with(dsn string, settings map[string]string) (string, error) {
	if !strings.Contains(dsn, "://") {
		words := []string{dsn}
		quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
		for key, value := range settings {
			words = append(words, key+"='"+quote.Replace(value)+"'")
		}
		return strings.Join(words, " "), nil
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("the DSN is not a URL") // err would quote the password
	}
	// url.Values would encode a space as a plus, which PostgreSQL does not decode.
	query := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(pair string) bool {
		key, _, _ := strings.Cut(pair, "=")
		_, set := settings[key]
		return key == "" || set
	})
	for key, value := range settings {
		query = append(query, escape(key)+"="+escape(value))
	}
	u.RawQuery = strings.Join(query, "&")
	return u.String(), nil
}

func escape(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

func create(ctx context.Context, server, name string, cfg Config) error {
	if cfg.Synced {
		if err := run(ctx, server, `DO $$ BEGIN
			IF current_setting('fsync') = 'off' OR current_setting('synchronous_commit') = 'off' THEN
				RAISE 'the server does not sync';
			END IF;
		END $$`); err != nil {
			return err
		}
	}
	if cfg.OwnDatabase {
		return run(ctx, server, "CREATE DATABASE "+name+" TEMPLATE template0") // template0 never has sessions
	}
	return run(ctx, server, "CREATE SCHEMA "+name)
}

// drop returns the statement that undoes create, also while sessions are at work.
func drop(name string, cfg Config) string {
	if cfg.OwnDatabase {
		return "DROP DATABASE " + name + " WITH (FORCE)"
	}
	return `DO $$ BEGIN
		PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '` + name + `';
		DROP SCHEMA ` + name + ` CASCADE;
	END $$`
}

// run executes one statement in a session of its own.
func run(ctx context.Context, dsn, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}
