-- The accounts' own credentials at providers, sealed.
CREATE TABLE credentials (
	id         TEXT PRIMARY KEY,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	provider   TEXT NOT NULL,
	label      TEXT NOT NULL,
	name       TEXT NOT NULL,
	disabled   INTEGER NOT NULL,
	fallback   INTEGER NOT NULL,
	models     TEXT NOT NULL,
	key_hashes TEXT NOT NULL,
	members    TEXT NOT NULL,
	rank       INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	revision   INTEGER NOT NULL,
	sealed_by  TEXT NOT NULL,
	sealed     BLOB NOT NULL,
	UNIQUE (account, workspace, rank)
) STRICT, WITHOUT ROWID;

-- The largest rank that was ever given in a workspace.
CREATE TABLE credential_ranks (
	account   TEXT NOT NULL,
	workspace TEXT NOT NULL,
	given     INTEGER NOT NULL,
	PRIMARY KEY (account, workspace)
) STRICT, WITHOUT ROWID;
