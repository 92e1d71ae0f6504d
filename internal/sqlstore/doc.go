// Package sqlstore keeps everything in SQL that SQLite, PostgreSQL and what
// speaks PostgreSQL's language take alike.
//
// The one thing to know first: a store's method is one [DB.Write] or [DB.Read],
// and the function given to it may run several times, because a database may
// ask for a transaction again. It sets its results from scratch each time and
// touches nothing else.
//
// Columns: text is compared byte for byte; money is nano-dollars and an instant
// microseconds since 1970 in 64 bits, the zero time among them; lists and JSON
// are text. Placeholders are $1, $2, …, and {keys} is the table "keys" ([Names]).
package sqlstore
