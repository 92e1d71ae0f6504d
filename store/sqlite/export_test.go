package sqlite

import (
	"database/sql"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// DB is a pool as the stores use it, for writing rows without them.
func DB(pool *sql.DB) sqldb.DB { return newDB(pool, DefaultPrefix) }
