package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// ErrNewer is a database whose schema is of a later version of this module.
var ErrNewer = errors.New("sqlstore: the schema is newer than this program")

// Migrate brings the schema up to date, forward only and in one transaction: it
// applies those of the files "NNNN_name.sql" in migrations that the database
// has not seen, in the order of their numbers from 1 up. Several processes may
// do so at once: one applies, the others wait. Before is run first, in a
// transaction of its own: it makes the table "migrations" (version, name) with
// the row 0, unless it is there.
func Migrate(ctx context.Context, db DB, migrations fs.FS) error {
	files, err := fs.Glob(migrations, "*.sql") // sorted
	if err != nil {
		return err
	}
	return db.Write(ctx, func(tx Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE migrations SET name = name WHERE version = 0`); err != nil {
			return err
		}
		have, err := count(ctx, tx, `SELECT max(version) FROM migrations`)
		if err != nil {
			return err
		}
		if have > len(files) {
			return fmt.Errorf("%w: it has version %d, the newest known is %d", ErrNewer, have, len(files))
		}
		for i, file := range files[have:] {
			if err := migrate(ctx, db, tx, migrations, file, have+i+1); err != nil {
				return fmt.Errorf("migration %s: %w", file, err)
			}
		}
		return nil
	})
}

func scanInt(rows Rows) (n int64, err error) {
	err = rows.Scan(&n)
	return n, err
}

func migrate(ctx context.Context, db DB, tx Tx, migrations fs.FS, file string, version int) error {
	number, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
	if n, err := strconv.Atoi(number); err != nil || n != version {
		return fmt.Errorf("sqlstore: it should have the number %d", version)
	}
	statements, err := fs.ReadFile(migrations, file)
	if err != nil {
		return err
	}
	if err := db.Script(ctx, tx, string(statements)); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, version, name)
	return err
}
