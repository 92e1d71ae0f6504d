-- Guardrails. What is never searched for is JSON in settings.
CREATE TABLE guardrails (
	id         text COLLATE "C" PRIMARY KEY,
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	is_default boolean NOT NULL,
	name       text COLLATE "C" NOT NULL,
	settings   text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	revision   bigint NOT NULL
);

CREATE UNIQUE INDEX guardrails_default ON guardrails (account, workspace) WHERE is_default;
CREATE INDEX guardrails_by_workspace ON guardrails (account, workspace, created_at, id);

-- Which guardrail covers a key or a member. Kind is "key" or "member".
CREATE TABLE guardrail_assignments (
	account    text COLLATE "C" NOT NULL,
	kind       text COLLATE "C" NOT NULL,
	subject    text COLLATE "C" NOT NULL,
	guardrail  text COLLATE "C" NOT NULL,
	id         text COLLATE "C" NOT NULL,
	name       text COLLATE "C" NOT NULL,
	label      text COLLATE "C" NOT NULL,
	assigner   text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (account, kind, subject)
);

CREATE INDEX guardrail_assignments_by_guardrail ON guardrail_assignments (account, guardrail, kind, created_at, id);
CREATE INDEX guardrail_assignments_by_time ON guardrail_assignments (account, kind, created_at, id);
