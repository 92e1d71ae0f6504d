-- Records of changes. Rows are inserted, never updated.
CREATE TABLE {audit} (
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

CREATE INDEX {audit_by_account} ON {audit} (account, seq);

-- API keys, without their secrets.
CREATE TABLE {keys} (
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

CREATE INDEX {keys_by_workspace} ON {keys} (account, workspace, management, created_at DESC, hash);
CREATE INDEX {keys_of_management} ON {keys} (account, created_at DESC, hash) WHERE management;
CREATE INDEX {keys_by_creator} ON {keys} (account, creator);

-- Accounts. A transaction that changes anything of an account updates the account's row
-- first, so that changes of one account run one after the other.
CREATE TABLE {accounts} (
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

CREATE TABLE {payments} (
	account     TEXT NOT NULL,
	id          TEXT NOT NULL,
	amount_nano INTEGER NOT NULL,
	paid_at     INTEGER NOT NULL,
	PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE {members} (
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

CREATE INDEX {members_by_age} ON {members} (account, created_at, id);

-- Budgets are JSON.
CREATE TABLE {workspaces} (
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

CREATE INDEX {workspaces_by_age} ON {workspaces} (account, created_at, id);

CREATE TABLE {memberships} (
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	member     TEXT NOT NULL,
	id         TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (account, workspace, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX {memberships_by_age} ON {memberships} (account, workspace, created_at, member);
CREATE INDEX {memberships_by_member} ON {memberships} (account, member);

-- The accounts' own credentials at providers, sealed.
CREATE TABLE {credentials} (
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

-- The largest rank ever assigned in a workspace.
CREATE TABLE {credential_ranks} (
	account   TEXT NOT NULL,
	workspace TEXT NOT NULL,
	given     INTEGER NOT NULL,
	PRIMARY KEY (account, workspace)
) STRICT, WITHOUT ROWID;

-- Presets. The last version is in force.
CREATE TABLE {presets} (
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

CREATE INDEX {presets_by_update} ON {presets} (account, workspace, updated_at, id);

-- Versions of presets: numbered from 1, never updated.
CREATE TABLE {preset_versions} (
	preset        TEXT NOT NULL,
	number        INTEGER NOT NULL,
	id            TEXT NOT NULL,
	config        TEXT,
	system_prompt TEXT NOT NULL,
	creator       TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	PRIMARY KEY (preset, number)
) STRICT;

-- Events: one row for each billed attempt, never updated.
CREATE TABLE {events} (
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
	reason     TEXT NOT NULL,
	requests   INTEGER NOT NULL,
	prompt     INTEGER NOT NULL,
	completion INTEGER NOT NULL,
	reasoning  INTEGER NOT NULL,
	cached     INTEGER NOT NULL,
	credit     INTEGER NOT NULL,
	total      INTEGER NOT NULL
) STRICT;

-- Sums of events by day and key.
CREATE TABLE {usage_by_key} (
	day        TEXT NOT NULL,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	member     TEXT NOT NULL,
	key_hash   TEXT NOT NULL,
	model      TEXT NOT NULL,
	permaslug  TEXT NOT NULL,
	endpoint   TEXT NOT NULL,
	provider   TEXT NOT NULL,
	reason     TEXT NOT NULL,
	requests   INTEGER NOT NULL,
	prompt     INTEGER NOT NULL,
	completion INTEGER NOT NULL,
	reasoning  INTEGER NOT NULL,
	cached     INTEGER NOT NULL,
	credit     INTEGER NOT NULL,
	total      INTEGER NOT NULL,
	PRIMARY KEY (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider, reason)
) STRICT, WITHOUT ROWID;

CREATE INDEX {usage_by_member} ON {usage_by_key} (account, member, day);

-- Sums of events by day and account.
CREATE TABLE {usage_by_account} (
	day        TEXT NOT NULL,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	model      TEXT NOT NULL,
	permaslug  TEXT NOT NULL,
	endpoint   TEXT NOT NULL,
	provider   TEXT NOT NULL,
	reason     TEXT NOT NULL,
	requests   INTEGER NOT NULL,
	prompt     INTEGER NOT NULL,
	completion INTEGER NOT NULL,
	reasoning  INTEGER NOT NULL,
	cached     INTEGER NOT NULL,
	credit     INTEGER NOT NULL,
	total      INTEGER NOT NULL,
	PRIMARY KEY (account, day, workspace, model, permaslug, endpoint, provider, reason)
) STRICT, WITHOUT ROWID;

-- Events that the sums by day do not count yet: one row for each transaction and account,
-- with the sums as JSON and the number of events. Readers add them to the sums.
CREATE TABLE {events_new} (
	id      INTEGER PRIMARY KEY,
	account TEXT NOT NULL,
	size    INTEGER NOT NULL,
	events  TEXT NOT NULL
) STRICT;

-- What is spent and held on each line, in nano-dollars. An owner's line of all time also
-- has the version of the owner's record and, in guards, that of the guardrails that cover the
-- owner. A hold states the versions under which it was made.
CREATE TABLE {lines} (
	id           INTEGER PRIMARY KEY,
	owner        TEXT NOT NULL,
	win          TEXT NOT NULL,
	spent_credit INTEGER NOT NULL DEFAULT 0,
	spent_total  INTEGER NOT NULL DEFAULT 0,
	held_credit  INTEGER NOT NULL DEFAULT 0,
	held_total   INTEGER NOT NULL DEFAULT 0,
	version      INTEGER NOT NULL DEFAULT 0,
	guards       INTEGER NOT NULL DEFAULT 0,
	UNIQUE (owner, win)
) STRICT;

-- Holds, kept for a day after they are closed. State 0 is open, 1 voided, 2 charged by expiry,
-- 3 settled; credit and total are the cost then.
CREATE TABLE {holds} (
	id       TEXT NOT NULL PRIMARY KEY,
	state    INTEGER NOT NULL,
	lines    TEXT NOT NULL, -- ids, ascending, with commas
	credit   INTEGER NOT NULL,
	total    INTEGER NOT NULL,
	deadline INTEGER NOT NULL,
	event    TEXT
) STRICT;

CREATE INDEX {holds_open} ON {holds} (deadline) WHERE state = 0;

-- Guardrails. Fields that no query searches are JSON in settings.
CREATE TABLE {guardrails} (
	id         TEXT PRIMARY KEY,
	account    TEXT NOT NULL,
	workspace  TEXT NOT NULL,
	is_default INTEGER NOT NULL,
	name       TEXT NOT NULL,
	settings   TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	revision   INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX {guardrails_default} ON {guardrails} (account, workspace) WHERE is_default;
CREATE INDEX {guardrails_by_workspace} ON {guardrails} (account, workspace, created_at, id);

-- Which guardrail covers a key or a member. Kind is "key" or "member".
CREATE TABLE {guardrail_assignments} (
	account    TEXT NOT NULL,
	kind       TEXT NOT NULL,
	subject    TEXT NOT NULL,
	guardrail  TEXT NOT NULL,
	id         TEXT NOT NULL,
	name       TEXT NOT NULL,
	label      TEXT NOT NULL,
	assigner   TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (account, kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX {guardrail_assignments_by_guardrail} ON {guardrail_assignments} (account, guardrail, kind, created_at, id);
CREATE INDEX {guardrail_assignments_by_time} ON {guardrail_assignments} (account, kind, created_at, id);

-- The first day whose events are kept: earlier ones are pruned, or being pruned. Without a row
-- nothing was pruned.
CREATE TABLE {pruned} (
	one  INTEGER PRIMARY KEY CHECK (one = 1),
	day  TEXT NOT NULL
) STRICT;

-- What pruned events had added to lines that are kept.
CREATE TABLE {carried} (
	owner  TEXT NOT NULL,
	win    TEXT NOT NULL,
	credit INTEGER NOT NULL,
	total  INTEGER NOT NULL,
	PRIMARY KEY (owner, win)
) STRICT;

-- Replies of calls with idempotency keys, kept for a day. Without a reply the call with this
-- hold is in flight until the deadline.
CREATE TABLE {replies} (
	account  TEXT NOT NULL,
	key_hash TEXT NOT NULL,
	idem     TEXT NOT NULL,
	digest   TEXT NOT NULL,
	hold     TEXT NOT NULL,
	made     INTEGER NOT NULL,
	deadline INTEGER NOT NULL,
	reply    TEXT,
	PRIMARY KEY (account, key_hash, idem)
) STRICT;

CREATE INDEX {replies_by_caller} ON {replies} (account, key_hash, made);
CREATE INDEX {replies_by_age} ON {replies} (made);

-- Alerts of budgets, each raised once. Due is when one may be taken for delivery; without it the
-- alert is delivered. Taker is the ID of the call that took it last. One that expires is
-- forgotten then.
CREATE TABLE {alerts} (
	id      TEXT NOT NULL PRIMARY KEY,
	event   TEXT NOT NULL,
	raised  INTEGER NOT NULL,
	due     INTEGER,
	taker   TEXT,
	expires INTEGER
) STRICT;

CREATE INDEX {alerts_due} ON {alerts} (due) WHERE due IS NOT NULL;
CREATE INDEX {alerts_expire} ON {alerts} (expires) WHERE expires IS NOT NULL;
