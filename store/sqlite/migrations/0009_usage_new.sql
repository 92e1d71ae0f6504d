-- What is to be added to the sums by day: a row for each sum of a transaction, which a
-- later one adds and deletes. Whoever reads the sums reads these, too.
CREATE TABLE usage_new (
	id         INTEGER PRIMARY KEY,
	day        TEXT NOT NULL,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	member     TEXT NOT NULL,
	key_hash   TEXT NOT NULL,
	model      TEXT NOT NULL,
	permaslug  TEXT NOT NULL,
	endpoint   TEXT NOT NULL,
	provider   TEXT NOT NULL,
	requests   INTEGER NOT NULL,
	prompt     INTEGER NOT NULL,
	completion INTEGER NOT NULL,
	reasoning  INTEGER NOT NULL,
	cached     INTEGER NOT NULL,
	credit     INTEGER NOT NULL,
	total      INTEGER NOT NULL
) STRICT;
