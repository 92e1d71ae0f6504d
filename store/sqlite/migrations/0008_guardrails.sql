-- Guardrails. What is never searched for is JSON in settings.
CREATE TABLE guardrails (
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

CREATE UNIQUE INDEX guardrails_default ON guardrails (account, workspace) WHERE is_default;
CREATE INDEX guardrails_by_workspace ON guardrails (account, workspace, created_at, id);

-- Which guardrail covers a key or a member. Kind is "key" or "member".
CREATE TABLE guardrail_assignments (
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

CREATE INDEX guardrail_assignments_by_guardrail ON guardrail_assignments (account, guardrail, kind, created_at, id);
CREATE INDEX guardrail_assignments_by_time ON guardrail_assignments (account, kind, created_at, id);
