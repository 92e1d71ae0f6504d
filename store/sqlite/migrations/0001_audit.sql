-- What was changed, by whom: appended to, never changed.
CREATE TABLE audit (
	seq              INTEGER PRIMARY KEY AUTOINCREMENT,
	id               TEXT NOT NULL UNIQUE,
	account          TEXT NOT NULL,
	at               INTEGER NOT NULL,
	request          TEXT NOT NULL,
	actor_account    TEXT NOT NULL,
	actor_workspace  TEXT NOT NULL,
	actor_member     TEXT NOT NULL,
	actor_key        TEXT NOT NULL,
	actor_management INTEGER NOT NULL,
	action           TEXT NOT NULL,
	kind             TEXT NOT NULL,
	object           TEXT NOT NULL,
	before           TEXT,
	after            TEXT
) STRICT;

CREATE INDEX audit_by_account ON audit (account, seq);
