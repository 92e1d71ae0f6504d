-- The accounts' own credentials at providers, sealed.
CREATE TABLE credentials (
	id         text COLLATE "C" PRIMARY KEY,
	account    text COLLATE "C" NOT NULL,
	workspace  text COLLATE "C" NOT NULL,
	provider   text COLLATE "C" NOT NULL,
	label      text COLLATE "C" NOT NULL,
	name       text COLLATE "C" NOT NULL,
	disabled   boolean NOT NULL,
	fallback   boolean NOT NULL,
	models     text COLLATE "C" NOT NULL,
	key_hashes text COLLATE "C" NOT NULL,
	members    text COLLATE "C" NOT NULL,
	rank       bigint NOT NULL,
	created_at bigint NOT NULL,
	revision   bigint NOT NULL,
	sealed_by  text COLLATE "C" NOT NULL,
	sealed     bytea NOT NULL,
	UNIQUE (account, workspace, rank)
);

-- The largest rank that was ever given in a workspace.
CREATE TABLE credential_ranks (
	account   text COLLATE "C" NOT NULL,
	workspace text COLLATE "C" NOT NULL,
	given     bigint NOT NULL,
	PRIMARY KEY (account, workspace)
);
