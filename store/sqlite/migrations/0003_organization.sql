-- Accounts and what belongs to them. Whoever changes something of an account
-- changes its row first, so that changes of one account take turns.
CREATE TABLE accounts (
	id                TEXT PRIMARY KEY,
	name              TEXT NOT NULL,
	personal          INTEGER NOT NULL,
	default_workspace TEXT NOT NULL,
	filtered_catalog  INTEGER NOT NULL,
	allowed           TEXT NOT NULL,
	ignored           TEXT NOT NULL,
	zdr               INTEGER NOT NULL,
	prepaid           INTEGER NOT NULL,
	credits_nano      INTEGER NOT NULL,
	created_at        INTEGER NOT NULL,
	updated_at        INTEGER NOT NULL,
	version           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE payments (
	account     TEXT NOT NULL,
	id          TEXT NOT NULL,
	amount_nano INTEGER NOT NULL,
	paid_at     INTEGER NOT NULL,
	PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
	account    TEXT NOT NULL,
	id         TEXT NOT NULL,
	email      TEXT NOT NULL,
	first_name TEXT NOT NULL,
	last_name  TEXT NOT NULL,
	role       TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	version    INTEGER NOT NULL,
	PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_age ON members (account, created_at, id);

-- Budgets are JSON.
CREATE TABLE workspaces (
	account           TEXT NOT NULL,
	id                TEXT NOT NULL,
	slug              TEXT NOT NULL,
	name              TEXT NOT NULL,
	description       TEXT,
	created_by        TEXT NOT NULL,
	default_guardrail TEXT NOT NULL,
	default_sort      TEXT NOT NULL,
	budgets           TEXT NOT NULL,
	include_byok      INTEGER NOT NULL,
	created_at        INTEGER NOT NULL,
	updated_at        INTEGER NOT NULL,
	version           INTEGER NOT NULL,
	PRIMARY KEY (account, id),
	UNIQUE (account, slug)
) STRICT, WITHOUT ROWID;

CREATE INDEX workspaces_by_age ON workspaces (account, created_at, id);

CREATE TABLE memberships (
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	member     TEXT NOT NULL,
	id         TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (account, workspace, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_by_age ON memberships (account, workspace, created_at, member);
CREATE INDEX memberships_by_member ON memberships (account, member);
