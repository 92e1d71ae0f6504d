package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// The engines put their own package name before both texts.
var (
	// ErrNewer reports a schema of a later version of this module.
	ErrNewer = errors.New("the schema is newer than this program")
	// ErrNotMigrated reports a database without tables, or with the tables of an
	// earlier version of this module.
	ErrNotMigrated = errors.New("the schema is missing or older than this program, call Migrate first")
)

// Migrate brings the schema up to date, forward only and in one transaction. It
// applies the files "NNNN_name.sql" of migrations that the database has not seen, by
// their numbers from 1 up. Several processes may call it at once: one applies, the
// others wait. When nothing is missing it only reads, so a role without the right to
// create tables may call it.
func Migrate(ctx context.Context, db DB, migrations fs.FS) error {
	if err := Check(ctx, db, migrations); !errors.Is(err, ErrNotMigrated) {
		return err
	}
	files, err := fs.Glob(migrations, "*.sql") // sorted
	if err != nil {
		return err
	}
	if err := db.Prepare(ctx); err != nil {
		return err
	}
	return db.Write(ctx, func(tx Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE {migrations} SET name = name WHERE version = 0`); err != nil {
			return err
		}
		have, err := version(ctx, tx)
		if err != nil {
			return err
		}
		for i, file := range files[min(have, len(files)):] {
			if err := migrate(ctx, db, tx, migrations, file, have+i+1); err != nil {
				return fmt.Errorf("migration %s: %w", file, err)
			}
		}
		return nil
	})
}

// Check returns nil when the schema is exactly that of migrations, else
// [ErrNotMigrated] or [ErrNewer].
func Check(ctx context.Context, db DB, migrations fs.FS) error {
	return db.Read(ctx, func(tx Tx) error { return CheckTx(ctx, db, tx, migrations) })
}

// CheckTx is [Check] within a transaction.
func CheckTx(ctx context.Context, db DB, tx Tx, migrations fs.FS) error {
	files, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return err
	}
	var have int
	switch there, err := db.Migrated(ctx, tx); {
	case err != nil:
		return err
	case there:
		if have, err = version(ctx, tx); err != nil {
			return err
		}
	}
	switch {
	case have > len(files):
		return fmt.Errorf("%w: it has version %d, the newest known is %d", ErrNewer, have, len(files))
	case have < len(files):
		return fmt.Errorf("%w: it has version %d, this program needs %d", ErrNotMigrated, have, len(files))
	}
	return nil
}

// version returns the number of the newest applied migration.
func version(ctx context.Context, tx Tx) (int, error) {
	return Count(ctx, tx, `SELECT coalesce(max(version), 0) FROM {migrations}`)
}

func migrate(ctx context.Context, db DB, tx Tx, migrations fs.FS, file string, version int) error {
	number, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	if n, err := strconv.Atoi(number); err != nil || n != version {
		return fmt.Errorf("its number should be %d", version)
	}
	statements, err := fs.ReadFile(migrations, file)
	if err != nil {
		return err
	}
	if err := db.Script(ctx, tx, string(statements)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO {migrations} (version, name) VALUES ($1, $2)`, version, name)
	return err
}
