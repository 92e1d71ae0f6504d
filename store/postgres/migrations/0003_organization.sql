-- Accounts and what belongs to them. Whoever changes something of an account
-- changes its row first, so that changes of one account take turns.
CREATE TABLE accounts (
	id                text COLLATE "C" PRIMARY KEY,
	name              text COLLATE "C" NOT NULL,
	personal          boolean NOT NULL,
	default_workspace text COLLATE "C" NOT NULL,
	filtered_catalog  boolean NOT NULL,
	allowed           text COLLATE "C" NOT NULL,
	ignored           text COLLATE "C" NOT NULL,
	zdr               boolean NOT NULL,
	prepaid           boolean NOT NULL,
	credits_nano      bigint NOT NULL,
	created_at        bigint NOT NULL,
	updated_at        bigint NOT NULL,
	version           bigint NOT NULL
);

CREATE TABLE payments (
	account     text COLLATE "C" NOT NULL,
	id          text COLLATE "C" NOT NULL,
	amount_nano bigint NOT NULL,
	paid_at     bigint NOT NULL,
	PRIMARY KEY (account, id)
);

CREATE TABLE members (
	account    text COLLATE "C" NOT NULL,
	id         text COLLATE "C" NOT NULL,
	email      text COLLATE "C" NOT NULL,
	first_name text COLLATE "C" NOT NULL,
	last_name  text COLLATE "C" NOT NULL,
	role       text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	version    bigint NOT NULL,
	PRIMARY KEY (account, id)
);

CREATE INDEX members_by_age ON members (account, created_at, id);

-- Budgets are JSON.
CREATE TABLE workspaces (
	account           text COLLATE "C" NOT NULL,
	id                text COLLATE "C" NOT NULL,
	slug              text COLLATE "C" NOT NULL,
	name              text COLLATE "C" NOT NULL,
	description       text COLLATE "C",
	created_by        text COLLATE "C" NOT NULL,
	default_guardrail text COLLATE "C" NOT NULL,
	default_sort      text COLLATE "C" NOT NULL,
	budgets           text COLLATE "C" NOT NULL,
	include_byok      boolean NOT NULL,
	created_at        bigint NOT NULL,
	updated_at        bigint NOT NULL,
	version           bigint NOT NULL,
	PRIMARY KEY (account, id),
	UNIQUE (account, slug)
);

CREATE INDEX workspaces_by_age ON workspaces (account, created_at, id);

CREATE TABLE memberships (
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	member     text COLLATE "C" NOT NULL,
	id         text COLLATE "C" NOT NULL,
	created_at bigint NOT NULL,
	PRIMARY KEY (account, workspace, member)
);

CREATE INDEX memberships_by_age ON memberships (account, workspace, created_at, member);
CREATE INDEX memberships_by_member ON memberships (account, member);
