-- Presets by name. The last of their versions is in force.
CREATE TABLE presets (
	id                TEXT PRIMARY KEY,
	account           TEXT NOT NULL,
	workspace         TEXT NOT NULL,
	slug              TEXT NOT NULL,
	name              TEXT NOT NULL,
	status            TEXT NOT NULL,
	status_updated_at INTEGER NOT NULL,
	creator           TEXT NOT NULL,
	created_at        INTEGER NOT NULL,
	updated_at        INTEGER NOT NULL,
	versions          INTEGER NOT NULL,
	UNIQUE (account, workspace, slug)
) STRICT, WITHOUT ROWID;

CREATE INDEX presets_by_update ON presets (account, workspace, updated_at, id);

-- They never change. Their numbers are 1, 2, 3, and so on.
CREATE TABLE preset_versions (
	preset        TEXT NOT NULL,
	number        INTEGER NOT NULL,
	id            TEXT NOT NULL,
	config        TEXT,
	system_prompt TEXT NOT NULL,
	creator       TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	PRIMARY KEY (preset, number)
) STRICT;
