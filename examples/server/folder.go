package main

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/signalbox/signalbox/router"
	"github.com/signalbox/signalbox/store/sqlite"
)

// The files of a data folder, beside those that SQLite makes.
const (
	lockFile     = "lock"
	sealingFile  = "sealing.key"
	databaseFile = "signalbox.db"
)

// connections is the most connections to the database, and so the most concurrent
// reads.
const connections = 16

var errLocked = errors.New("another process uses it")

// openFolder opens a data folder, and creates it if it is missing.
func openFolder(ctx context.Context, folder string) (_ *storage, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, mistakef("-data %s: %w", folder, cause(err))
	}
	unlock, err := lock(filepath.Join(folder, lockFile))
	if err != nil {
		return nil, mistakef("-data %s: %w", folder, cause(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, unlock())
		}
	}()
	key, err := readSealingKey(folder)
	if err != nil {
		return nil, mistakef("-data %s: %w", folder, err)
	}
	pool, err := openDatabase(filepath.Join(folder, databaseFile))
	if err != nil {
		return nil, mistakef("-data %s: %w", folder, cause(err))
	}
	set, err := sqlite.New(ctx, pool, sqlite.Config{})
	if err != nil {
		newer := errors.Is(err, sqlite.ErrNewer)
		err = fmt.Errorf("-data %s: %w", folder, err)
		if newer {
			err = mistake{err}
		}
		return nil, errors.Join(err, pool.Close())
	}
	return &storage{set: set, sealingKey: key, alone: true, close: func() error { return errors.Join(pool.Close(), unlock()) }}, nil
}

// openDatabase opens the file of a database. It creates a missing file with mode 0600,
// which SQLite then uses for the files beside it as well.
func openDatabase(path string) (*sql.DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	slashes := filepath.ToSlash(path)
	if !strings.HasPrefix(slashes, "/") { // C:/…
		slashes = "/" + slashes
	}
	// The path is escaped in a URL, so that no part of it is read as a setting.
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashes}).String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// readSealingKey returns the folder's sealing key. In a folder without a database it
// makes a new key and writes the file atomically.
func readSealingKey(folder string) (router.Secret, error) {
	path := filepath.Join(folder, sealingFile)
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the folder
	if err == nil {
		key, err := parseSealingKey(string(text))
		if err != nil {
			return "", errors.New(sealingFile + " " + err.Error())
		}
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", errors.New(sealingFile + ": " + cause(err).Error())
	}
	if _, err := os.Stat(filepath.Join(folder, databaseFile)); !errors.Is(err, fs.ErrNotExist) {
		return "", errors.New(sealingFile + " is missing: provider credentials in " + databaseFile + " are sealed with it")
	}
	key := newSealingKey()
	if err := writeFile(path, hex.AppendEncode(nil, []byte(key))); err != nil {
		return "", errors.New(sealingFile + ": " + cause(err).Error())
	}
	return key, nil
}
