package sqlite

import (
	"database/sql"

	"github.com/signalbox/signalbox/internal/sqldb"
)

// DB returns a pool as the stores use it.
func DB(pool *sql.DB) sqldb.DB { return newDB(pool, DefaultPrefix) }
