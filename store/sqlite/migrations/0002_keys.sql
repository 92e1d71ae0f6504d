-- API keys, without their text.
CREATE TABLE keys (
	hash          TEXT PRIMARY KEY,
	label         TEXT NOT NULL,
	name          TEXT NOT NULL,
	account       TEXT NOT NULL,
	workspace     TEXT NOT NULL,
	creator       TEXT NOT NULL,
	management    INTEGER NOT NULL,
	provisioned   INTEGER NOT NULL,
	disabled      INTEGER NOT NULL,
	max_nano      INTEGER,
	reset         INTEGER NOT NULL,
	include_byok  INTEGER NOT NULL,
	external_user TEXT NOT NULL,
	external_hash TEXT NOT NULL,
	expires_at    INTEGER NOT NULL,
	created_at    INTEGER NOT NULL,
	updated_at    INTEGER NOT NULL,
	version       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_workspace ON keys (account, workspace, management, created_at DESC, hash);
CREATE INDEX keys_of_management ON keys (account, created_at DESC, hash) WHERE management;
CREATE INDEX keys_by_creator ON keys (account, creator);
