-- What was used: one row for each billed attempt, never changed.
CREATE TABLE events (
	id         text COLLATE "C" PRIMARY KEY,
	admitted   bigint NOT NULL,
	day        text COLLATE "C" NOT NULL,
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	member     text COLLATE "C" NOT NULL,
	key_hash   text COLLATE "C" NOT NULL,
	model      text COLLATE "C" NOT NULL,
	permaslug  text COLLATE "C" NOT NULL,
	endpoint   text COLLATE "C" NOT NULL,
	provider   text COLLATE "C" NOT NULL,
	requests   bigint NOT NULL,
	prompt     bigint NOT NULL,
	completion bigint NOT NULL,
	reasoning  bigint NOT NULL,
	cached     bigint NOT NULL,
	credit     bigint NOT NULL,
	total      bigint NOT NULL
);

-- Sums of events by day and key.
CREATE TABLE usage_by_key (
	day        text COLLATE "C" NOT NULL,
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	member     text COLLATE "C" NOT NULL,
	key_hash   text COLLATE "C" NOT NULL,
	model      text COLLATE "C" NOT NULL,
	permaslug  text COLLATE "C" NOT NULL,
	endpoint   text COLLATE "C" NOT NULL,
	provider   text COLLATE "C" NOT NULL,
	requests   bigint NOT NULL,
	prompt     bigint NOT NULL,
	completion bigint NOT NULL,
	reasoning  bigint NOT NULL,
	cached     bigint NOT NULL,
	credit     bigint NOT NULL,
	total      bigint NOT NULL,
	PRIMARY KEY (account, key_hash, day, member, workspace, model, permaslug, endpoint, provider)
);

CREATE INDEX usage_by_member ON usage_by_key (account, member, day);

-- Sums of events by day and account.
CREATE TABLE usage_by_account (
	day        text COLLATE "C" NOT NULL,
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	model      text COLLATE "C" NOT NULL,
	permaslug  text COLLATE "C" NOT NULL,
	endpoint   text COLLATE "C" NOT NULL,
	provider   text COLLATE "C" NOT NULL,
	requests   bigint NOT NULL,
	prompt     bigint NOT NULL,
	completion bigint NOT NULL,
	reasoning  bigint NOT NULL,
	cached     bigint NOT NULL,
	credit     bigint NOT NULL,
	total      bigint NOT NULL,
	PRIMARY KEY (account, day, workspace, model, permaslug, endpoint, provider)
);
