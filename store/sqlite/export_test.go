package sqlite

import (
	"database/sql"

	"github.com/signalbox/signalbox/internal/sqlstore"
)

// DB is a pool as the stores use it, for writing rows without them.
func DB(pool *sql.DB) sqlstore.DB { return newDB(pool, DefaultPrefix) }
