-- What was used: one row for each billed attempt, never changed.
CREATE TABLE events (
	id         TEXT PRIMARY KEY,
	admitted   INTEGER NOT NULL,
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

-- Sums of events by day and key.
CREATE TABLE usage_by_key (
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
	total      INTEGER NOT NULL,
	PRIMARY KEY (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_by_member ON usage_by_key (account, member, day);

-- Sums of events by day and account.
CREATE TABLE usage_by_account (
	day        TEXT NOT NULL,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
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
	total      INTEGER NOT NULL,
	PRIMARY KEY (account, day, workspace, model, permaslug, endpoint, provider)
) STRICT, WITHOUT ROWID;
