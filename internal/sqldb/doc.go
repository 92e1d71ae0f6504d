// Package sqldb is the database as the stores see it: transactions, rows,
// migrations and the names of tables. SQLite, PostgreSQL and databases that speak
// PostgreSQL's dialect implement [DB]; no driver is imported here.
//
// A method of a store is one [DB.Write] or one [DB.Read]. The function that it
// passes may run several times, because a database may ask for a transaction to be
// repeated. Such a function sets its results from scratch on every run and has no
// other effect.
//
// Columns: text is compared byte by byte. Money is nano-dollars and an instant is
// microseconds since 1970, both 64-bit integers; the zero [time.Time] is stored the
// same way. Lists and JSON are text. Placeholders are $1, $2, …, and {keys} stands
// for the table "keys" (see [Names]).
package sqldb
