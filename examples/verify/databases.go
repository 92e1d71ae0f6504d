package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/signalbox/signalbox/store"
	"github.com/signalbox/signalbox/store/postgres"
	"github.com/signalbox/signalbox/store/sqlite"
)

// databaseFile is the name of the database in a server's folder.
const databaseFile = "signalbox.db"

// verifyFolder verifies the database in a server's folder. It opens the database
// read-only.
func verifyFolder(ctx context.Context, folder string) (store.Verified, error) {
	path, err := filepath.Abs(filepath.Join(folder, databaseFile))
	if err != nil {
		return store.Verified{}, err
	}
	if _, err := os.Stat(path); err != nil { //nolint:gosec // the operator names the folder
		if failed, ok := errors.AsType[*os.PathError](err); ok {
			err = failed.Err
		}
		return store.Verified{}, fmt.Errorf("-data %s: %s: %w", folder, databaseFile, err)
	}
	slashes := filepath.ToSlash(path)
	if !strings.HasPrefix(slashes, "/") { // C:/…
		slashes = "/" + slashes
	}
	// The path is escaped in a URL, so that no part of it is read as a setting.
	address := url.URL{Scheme: "file", Path: slashes, RawQuery: "mode=ro&_pragma=busy_timeout(10000)"}
	pool, err := sql.Open("sqlite", address.String())
	if err != nil {
		return store.Verified{}, err
	}
	found, err := sqlite.Verify(ctx, pool, sqlite.Config{})
	return found, errors.Join(err, pool.Close())
}

// verifyPostgres verifies the database that a DSN names. No error contains the
// password.
func verifyPostgres(ctx context.Context, dsn string) (store.Verified, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil { // the error is dropped, because it may quote the password
		return store.Verified{}, errors.New("the PostgreSQL DSN is neither a valid URL nor a list of keywords and values")
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return store.Verified{}, without(cfg.ConnConfig.Password, err)
	}
	defer pool.Close()
	found, err := postgres.Verify(ctx, pool, postgres.Config{})
	if err != nil {
		err = without(cfg.ConnConfig.Password, err)
	}
	return found, err
}

// without returns err with the password replaced.
func without(password string, err error) error {
	if password == "" {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), password, "***"))
}
